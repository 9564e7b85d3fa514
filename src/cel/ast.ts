// The syntax tree. Every node has a unique id, by which the checker and the planner index their tables.

import type { Value } from "./values.ts";

interface Node {
  readonly id: number;
  /** Position that errors about the node refer to (the operator, bracket or name), in UTF-16 units. */
  readonly offset: number;
}

export interface Literal extends Node {
  readonly kind: "literal";
  readonly value: Value;
}
export interface Identifier extends Node {
  readonly kind: "identifier";
  readonly name: string;
}
export interface Select extends Node {
  readonly kind: "select";
  readonly operand: Expression;
  readonly field: string;
  /** Whether this is a presence test: has(operand.field). */
  readonly test: boolean;
}
export interface Call extends Node {
  readonly kind: "call";
  readonly name: string;
  readonly target?: Expression;
  readonly args: readonly Expression[];
}
export interface ListLiteral extends Node {
  readonly kind: "list";
  readonly elements: readonly Expression[];
  /** Indexes of elements that are omitted if their optional value is empty: `[?element]`. */
  readonly optional?: ReadonlySet<number>;
}
export interface MapLiteral extends Node {
  readonly kind: "map";
  readonly entries: readonly MapEntry[];
}
export interface MapEntry {
  readonly key: Expression;
  readonly value: Expression;
  /** Whether the entry is omitted if its optional value is empty: `{?key: value}`. */
  readonly optional?: boolean;
}
export interface ObjectLiteral extends Node {
  readonly kind: "object";
  readonly name: string;
  readonly entries: readonly {
    readonly field: string;
    readonly value: Expression;
    readonly offset: number;
  }[];
}
export interface Fold extends Node {
  readonly kind: "fold";
  readonly variable: string;
  /** The variable for the element, if `variable` is its index or key. */
  readonly second?: string;
  readonly range: Expression;
  readonly initial: Expression;
  readonly condition: Expression;
  readonly step: Expression;
  readonly result: Expression;
  /** The macro that produced the loop, and the parts of the call that the planner needs. */
  readonly macro:
    | "all"
    | "exists"
    | "exists_one"
    | "map"
    | "filter"
    | "transformMap"
    | "transformMapEntry"
    | "bind";
  /** The accumulator variable, if not the default: `bind` gives a name to a value. */
  readonly accumulator?: string;
  readonly predicate?: Expression;
  readonly transform?: Expression;
}
export type Expression =
  | Literal
  | Identifier
  | Select
  | Call
  | ListLiteral
  | MapLiteral
  | ObjectLiteral
  | Fold;

/** The default accumulator variable of macros; a source text cannot use it by accident. */
export const accumulator = "__result__";

/** Returns `a.b.c` as a single name if the expression is nothing else. */
export function qualifiedName(expression: Expression): string | undefined {
  if (expression.kind === "identifier") return expression.name;
  if (expression.kind !== "select" || expression.test) return undefined;
  const prefix = qualifiedName(expression.operand);
  return prefix === undefined ? undefined : `${prefix}.${expression.field}`;
}

/** Reports whether any node of the expression satisfies the predicate. */
export function someNode(expression: Expression, has: (node: Expression) => boolean): boolean {
  const left = [expression];
  for (let node = left.pop(); node; node = left.pop()) {
    if (has(node)) return true;
    left.push(...partsOf(node));
  }
  return false;
}

function partsOf(node: Expression): readonly Expression[] {
  switch (node.kind) {
    case "select":
      return [node.operand];
    case "call":
      return node.target ? [node.target, ...node.args] : node.args;
    case "list":
      return node.elements;
    case "map":
      return node.entries.flatMap(({ key, value }) => [key, value]);
    case "object":
      return node.entries.map(({ value }) => value);
    case "fold":
      return [node.range, node.initial, node.condition, node.step, node.result];
    default:
      return [];
  }
}
