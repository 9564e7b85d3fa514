// The loops that macros expand to, and the nodes that they consist of.

import { type Expression, type Fold, accumulator } from "./ast.ts";
import type { Value } from "./values.ts";

export interface NodeFactory {
  id(): number;
}

export class MacroError extends Error {
  override readonly name = "MacroError";
  readonly offset: number | undefined;
  constructor(message: string, offset?: number) {
    super(message);
    this.offset = offset;
  }
}

/** The loop variables: the element only, or its index or key and then the element. */
export interface LoopVariables {
  readonly variable: string;
  readonly second?: string;
}

export type Nodes = ReturnType<typeof nodesAt>;

export function nodesAt(factory: NodeFactory, offset: number) {
  const node = () => ({ id: factory.id(), offset });
  return {
    literal: (value: Value): Expression => ({ ...node(), kind: "literal", value }),
    accumulated: (): Expression => ({ ...node(), kind: "identifier", name: accumulator }),
    map: (): Expression => ({ ...node(), kind: "map", entries: [] }),
    list: (...elements: Expression[]): Expression => ({ ...node(), kind: "list", elements }),
    call: (name: string, ...args: Expression[]): Expression => ({ ...node(), kind: "call", name, args }),
    method: (target: Expression, name: string): Expression => ({
      ...node(),
      kind: "call",
      name,
      target,
      args: [],
    }),
    name: (name: string): Expression => ({ ...node(), kind: "identifier", name }),
    has: (operand: Expression, field: string): Expression => ({
      ...node(),
      kind: "select",
      operand,
      field,
      test: true,
    }),
    fold: (
      variables: LoopVariables,
      range: Expression,
      loop: Omit<Fold, "kind" | "id" | "offset" | "variable" | "second" | "range">,
    ): Expression => ({ ...node(), kind: "fold", ...variables, range, ...loop }),
  };
}

export function quantifier(
  make: Nodes,
  name: "all" | "exists" | "exists_one",
  range: Expression,
  variables: LoopVariables,
  predicate: Expression,
): Expression {
  const found = make.accumulated;
  if (name === "exists_one") {
    const one = make.literal(1);
    return make.fold(variables, range, {
      macro: name,
      predicate,
      initial: make.literal(0),
      condition: make.literal(true),
      step: make.call("_?_:_", predicate, make.call("_+_", found(), one), found()),
      result: make.call("_==_", found(), one),
    });
  }
  const all = name === "all";
  return make.fold(variables, range, {
    macro: name,
    predicate,
    initial: make.literal(all),
    condition: make.call("@not_strictly_false", all ? found() : make.call("!_", found())),
    step: make.call(all ? "_&&_" : "_||_", found(), predicate),
    result: found(),
  });
}

export function mapping(
  make: Nodes,
  range: Expression,
  variables: LoopVariables,
  transform: Expression,
  predicate?: Expression,
): Expression {
  const found = make.accumulated();
  const append = make.call("_+_", found, make.list(transform));
  return make.fold(variables, range, {
    macro: "map",
    transform,
    ...(predicate && { predicate }),
    initial: make.list(),
    condition: make.literal(true),
    step: predicate ? make.call("_?_:_", predicate, append, found) : append,
    result: found,
  });
}
