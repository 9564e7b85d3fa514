// Compiles a frequently run program to a JavaScript function for the most common data: plain objects, small
// ints, no errors, cost within the limit. In any other case the function returns undefined and the closures
// of the plan evaluate the expression from the start; only they handle errors. Costs are the same as those of
// the plan.

import type { Call, Expression, Fold, Select } from "./ast.ts";
import { type CallCost, callCost, costSize, listCost, traversal } from "./call-cost.ts";
import type { Checked } from "./checker.ts";
import type { Implementation, Overload } from "./declarations.ts";
import type { Evaluation } from "./evaluation.ts";
import { comparable, equal, index } from "./operations.ts";
import { type PlanOptions, conversions } from "./plan.ts";
import { equalityCost, implementationOf, keysOf, mayConcatenate, memberKey } from "./plan-call.ts";
import { ownCharge } from "./plan-member.ts";
import { type Value, isRecord } from "./values.ts";
import { ownKeys } from "./walk-limit.ts";

/** Returns undefined if the plan has to run. */
export type HotPath = (state: Evaluation) => Value | undefined;

const maxNodes = 400;

/** Returns the hot path of a planned program; undefined if the expression does not support one. */
export function hotPath(
  expression: Expression,
  checked: Checked,
  inputs: ReadonlyMap<string, number>,
  options: PlanOptions,
): HotPath | undefined {
  try {
    return new Writer(checked, inputs, options).write(expression);
  } catch (error) {
    if (error instanceof Unsupported) return undefined;
    throw error;
  }
}

class Unsupported extends Error {
  override readonly name = "Unsupported";
}

interface Piece {
  /** A name or a literal, which can be repeated without evaluating it again. */
  readonly js: string;
  readonly is: "any" | "boolean" | "int" | "text";
  /** The value, if the plan treats it as a constant. */
  readonly constant?: { readonly value: Value };
  /** The value, if it is the same in every run. */
  readonly known?: { readonly value: Value };
}

/** Returns the cost of comparing a value with a string of the given size. */
const textCost = (value: Value, size: number): number => traversal(Math.min(costSize(value), size));
const helpers = { textCost, comparable, equal, equalityCost, index, isRecord, memberKey, ownKeys };
const operators: Readonly<Record<string, string>> = { "_<_": "<", "_<=_": "<=", "_>_": ">", "_>=_": ">=" };
/** String methods with the same semantics in both languages. */
const textMethods: Readonly<Record<string, string>> = {
  starts_with_string: "startsWith",
  ends_with_string: "endsWith",
  contains_string: "includes",
};
const isInt32 = (value: unknown): value is number => typeof value === "number" && (value | 0) === value;

class Writer {
  readonly #checked: Checked;
  readonly #inputs: ReadonlyMap<string, number>;
  readonly #options: PlanOptions;
  readonly #locals: { readonly name: string; readonly js: string }[] = [];
  readonly #constants: unknown[] = [];
  #source = "";
  #names = 0;
  #nodes = 0;

  constructor(checked: Checked, inputs: ReadonlyMap<string, number>, options: PlanOptions) {
    this.#checked = checked;
    this.#inputs = inputs;
    this.#options = options;
  }

  write(expression: Expression): HotPath {
    const { js, is } = this.#whole(this.#value(expression));
    const reads = [...this.#inputs.values()]
      .map((slot) => `const v${slot} = state.slots[${slot}];`)
      .join(" ");
    // Normalizes negative zero.
    const unsigned = is === "any" ? `typeof ${js} === "number" ? ${js} | 0 : ${js}` : js;
    const body = `let cost = 0; ${reads} ${this.#source}
      if (cost > state.limit) return undefined; state.cost = cost; return ${unsigned};`;
    const names = [...Object.keys(helpers), ...this.#constants.map((_, at) => `c${at}`)];
    // Only names generated here, numbers, and strings as JSON enter the source.
    // oxlint-disable-next-line typescript/no-implied-eval
    const make = new Function(...names, `"use strict"; return function expression(state) { ${body} };`);
    return make(...Object.values(helpers), ...this.#constants) as HotPath;
  }

  #emit(code: string): void {
    this.#source += `${code}\n`;
  }

  #charge(cost: number | string): void {
    if (cost !== 0) this.#emit(`cost += ${cost};`);
  }

  #unless(condition: string): void {
    this.#emit(`if (!(${condition})) return undefined;`);
  }

  #fresh(): string {
    this.#names += 1;
    return `t${this.#names}`;
  }

  #let(value: string, is: Piece["is"] = "any"): Piece {
    const js = this.#fresh();
    this.#emit(`let ${js} = ${value};`);
    return { js, is };
  }

  #constant(value: Value): Piece {
    return { ...this.#known(value), constant: { value } };
  }

  #known(value: Value): Piece {
    const known = { value };
    if (typeof value === "string") return { js: JSON.stringify(value), is: "text", known };
    if (isInt32(value)) return { js: String(value), is: "int", known };
    if (typeof value === "boolean") return { js: String(value), is: "boolean", known };
    if (value === null) return { js: "null", is: "any", known };
    return { js: this.#kept(value), is: "any", known };
  }

  #kept(value: unknown): string {
    this.#constants.push(value);
    return `c${this.#constants.length - 1}`;
  }

  /** Returns the piece as a valid value of the language: the only numbers left unconverted are small ints. */
  #whole(piece: Piece): Piece {
    if (piece.is === "any" && !piece.known)
      this.#unless(`typeof ${piece.js} !== "number" || (${piece.js} | 0) === ${piece.js}`);
    return piece;
  }

  #as(piece: Piece, is: "boolean" | "int"): Piece {
    if (piece.is === is) return piece;
    const { js } = piece;
    this.#unless(
      is === "boolean" ? `typeof ${js} === "boolean"` : `typeof ${js} === "number" && (${js} | 0) === ${js}`,
    );
    return { js, is };
  }

  #value(node: Expression, charged = true): Piece {
    if ((this.#nodes += 1) > maxNodes) throw new Unsupported();
    const reference = this.#checked.references[node.id];
    if (reference?.kind === "type") throw new Unsupported();
    if (reference?.kind === "variable") return this.#variable(reference.name, charged);
    switch (node.kind) {
      case "literal":
        return this.#constant(node.value);
      case "select":
        return node.test ? this.#presence(node) : this.#select(node, charged);
      case "call":
        return this.#call(node, charged);
      case "list":
        if (node.optional) throw new Unsupported();
        return this.#list(node.elements);
      case "fold":
        return this.#fold(node);
      default:
        throw new Unsupported();
    }
  }

  #variable(name: string, charged: boolean): Piece {
    if (charged) this.#charge(1);
    const local = this.#locals.findLast((entry) => entry.name === name);
    if (local) return { js: local.js, is: "any" };
    const slot = this.#inputs.get(name);
    if (slot === undefined) throw new Unsupported();
    this.#unless(`v${slot} !== undefined`);
    return { js: `v${slot}`, is: "any" };
  }

  /** Reads a member of a plain object, by a name that is not inherited. */
  #member(operand: Piece, field: string): string {
    if (field in Object.prototype) throw new Unsupported();
    this.#unless(`isRecord(${operand.js})`);
    return `${operand.js}[${JSON.stringify(field)}]`;
  }

  #select(node: Select, charged: boolean): Piece {
    const operand = this.#value(node.operand, false);
    this.#charge(1 + (charged ? ownCharge(node, this.#checked) : 0));
    const found = this.#let(this.#member(operand, node.field));
    this.#unless(`${found.js} !== undefined`);
    return found;
  }

  #presence(node: Select): Piece {
    return this.#let(`${this.#member(this.#value(node.operand), node.field)} !== undefined`, "boolean");
  }

  #list(nodes: readonly Expression[]): Piece {
    const items = nodes.map((node) => this.#whole(this.#value(node)));
    if (items.every((item) => item.constant))
      return this.#constant(items.map((item) => item.constant!.value));
    this.#charge(listCost);
    return this.#let(`[${items.map(({ js }) => js).join(", ")}]`);
  }

  #call(node: Call, charged: boolean): Piece {
    const [first, second, third] = node.args;
    switch (node.name) {
      case "_&&_":
        return this.#logical(first!, second!, "");
      case "_||_":
        return this.#logical(first!, second!, "!");
      case "_?_:_":
        return this.#ternary(first!, second!, third!);
      case "_[_]":
        return this.#index(first!, second!, 1 + (charged ? ownCharge(node, this.#checked) : 0));
      case "_[?_]":
      case "_?._":
      case "or":
      case "orValue":
        throw new Unsupported();
      case "_==_":
        return this.#equality(first!, second!, true);
      case "_!=_":
        return this.#equality(first!, second!, false);
      default:
        return this.#function(node);
    }
  }

  #logical(left: Expression, right: Expression, negation: "" | "!"): Piece {
    const result = this.#let(this.#as(this.#value(left), "boolean").js, "boolean");
    this.#emit(`if (${negation}${result.js}) {`);
    this.#emit(`${result.js} = ${this.#as(this.#value(right), "boolean").js}; }`);
    return result;
  }

  #ternary(condition: Expression, whenTrue: Expression, whenFalse: Expression): Piece {
    const test = this.#as(this.#value(condition), "boolean");
    const result = this.#let("undefined");
    this.#emit(`if (${test.js}) {`);
    this.#emit(`${result.js} = ${this.#value(whenTrue, false).js}; } else {`);
    this.#emit(`${result.js} = ${this.#value(whenFalse, false).js}; }`);
    return result;
  }

  #index(target: Expression, key: Expression, cost: number): Piece {
    const value = this.#value(target, false);
    const at = this.#whole(this.#value(key, false));
    this.#charge(cost);
    return this.#let(`index(${value.js}, ${at.js})`);
  }

  #equality(left: Expression, right: Expression, positive: boolean): Piece {
    const a = this.#whole(this.#value(left));
    const b = this.#whole(this.#value(right));
    const text = b.constant?.value;
    const same = positive ? "===" : "!==";
    if (typeof text === "string" && text !== "") {
      const size = costSize(text);
      const one = size <= 10 ? `typeof ${a.js} === "string" && ${a.js} !== ""` : `${a.js} === ${b.js}`;
      this.#charge(`${one} ? ${traversal(size)} : textCost(${a.js}, ${size})`);
      return this.#let(`${a.js} ${same} ${b.js}`, "boolean");
    }
    if (b.is === "int") {
      this.#charge(1);
      return this.#let(
        `typeof ${a.js} === "number" ? ${a.js} ${same} ${b.js} : equal(${a.js}, ${b.js}) === ${positive}`,
        "boolean",
      );
    }
    this.#charge(`equalityCost(${a.js}, ${b.js})`);
    this.#unless(`comparable(${a.js}, ${b.js})`);
    return this.#let(`equal(${a.js}, ${b.js}) === ${positive}`, "boolean");
  }

  #function(node: Call): Piece {
    const reference = this.#checked.references[node.id];
    if (reference?.kind !== "function" || node.name === "join") throw new Unsupported();
    const { overloads } = reference;
    const nodes = node.target && !reference.global ? [node.target, ...node.args] : node.args;
    const id = overloads.length === 1 ? overloads[0]!.id : "";
    if (nodes.length > 2 || nodes.length === 0 || mayConcatenate(node.name, id)) throw new Unsupported();
    if (id === "in_list") {
      const among = this.#membership(nodes[0]!, nodes[1]!);
      if (among) return among;
    }
    const args = nodes.map((arg) => this.#whole(this.#value(arg)));
    if (conversions.has(node.name) && args[0]!.constant) throw new Unsupported();
    const cost = callCost(node.name, id, this.#options.libraryCosts);
    if (args.every(({ known }) => known)) return this.#precomputed(overloads, nodes, args, cost);
    const operator = operators[node.name];
    if (operator !== undefined && !cost && args.some(({ is }) => is === "int")) {
      const [a, b] = args.map((arg) => this.#as(arg, "int"));
      this.#charge(1);
      return this.#let(`${a!.js} ${operator} ${b!.js}`, "boolean");
    }
    if (node.name === "!_") {
      this.#charge(1);
      return this.#let(`!${this.#as(args[0]!, "boolean").js}`, "boolean");
    }
    const texts = this.#guard(overloads, args);
    this.#charge(cost ? `${this.#kept(cost)}(${args[0]!.js}, ${args[1]?.js ?? "0"})` : 1);
    const native = texts && textMethods[id];
    if (native !== undefined) return this.#let(`${args[0]!.js}.${native}(${args[1]!.js})`, "boolean");
    const apply = texts ?? implementationOf(overloads, nodes, this.#checked);
    return this.#let(`${this.#kept(apply)}(${args.map(({ js }) => js).join(", ")})`);
  }

  /**
   * A call whose arguments are the same in every run: evaluated at compile time, and charged in every run.
   */
  #precomputed(
    overloads: readonly Overload[],
    nodes: readonly Expression[],
    args: readonly Piece[],
    cost: CallCost | undefined,
  ): Piece {
    const values = args.map(({ known }) => known!.value);
    try {
      const result = implementationOf(overloads, nodes, this.#checked)(...values);
      this.#charge(cost ? cost(values[0]!, values[1] ?? 0, () => result) : 1);
      return this.#known(result);
    } catch {
      throw new Unsupported();
    }
  }

  /**
   * Returns the implementation of a single overload on strings, and guards that the arguments are strings.
   */
  #guard([only, ...others]: readonly Overload[], args: readonly Piece[]): Implementation | undefined {
    if (others.length > 0 || only!.params.some(({ kind }) => kind !== "string")) return undefined;
    for (const { js, is } of args) if (is !== "text") this.#unless(`typeof ${js} === "string"`);
    return only!.apply;
  }

  /** Membership in a constant list of primitive elements, which costs nothing; undefined for other lists. */
  #membership(item: Expression, list: Expression): Piece | undefined {
    if (list.kind !== "list" || list.elements.some(({ kind }) => kind !== "literal")) return undefined;
    if (list.elements.length === 0) return this.#constant(false);
    const keys = keysOf(list.elements.map((each) => (each.kind === "literal" ? each.value : null)));
    if (!keys) return undefined;
    const { js } = this.#whole(this.#value(item));
    return this.#let(
      `${this.#kept(keys)}.has(typeof ${js} === "string" ? ${js} : memberKey(${js}))`,
      "boolean",
    );
  }

  #fold(node: Fold): Piece {
    if (node.macro === "bind" || node.second !== undefined) throw new Unsupported();
    const range = this.#value(node.range);
    const items = this.#let(range.js).js;
    this.#emit(`if (!Array.isArray(${items})) {`);
    this.#unless(`isRecord(${items})`);
    this.#emit(`${items} = ownKeys(${items}); }`);
    const collects = node.macro === "map" || node.macro === "filter";
    const result = this.#let(
      collects ? "[]" : node.macro === "exists_one" ? "0" : String(node.macro === "all"),
    );
    const at = this.#fresh();
    const item = this.#fresh();
    this.#emit(`for (let ${at} = 0; ${at} < ${items}.length; ${at} += 1) {`);
    this.#unless("cost <= state.limit");
    this.#locals.push({ name: node.variable, js: item });
    this.#loopBody(node, `${items}[${at}]`, item, result.js);
    this.#locals.pop();
    this.#emit("}");
    this.#charge(node.macro === "exists_one" ? 2 : 1);
    if (collects) return result;
    return node.macro === "exists_one"
      ? this.#let(`${result.js} === 1`, "boolean")
      : { ...result, is: "boolean" };
  }

  /** Generates the loop body of a macro. */
  #loopBody(node: Fold, element: string, item: string, result: string): void {
    const { macro, predicate, transform } = node;
    if (macro === "all" || macro === "exists") {
      this.#charge(macro === "exists" ? 3 : 2);
      this.#emit(`if (${macro === "all" ? "!" : ""}${result}) break;`);
      this.#emit(`const ${item} = ${element};`);
      this.#charge(1);
      this.#emit(`${result} = ${this.#as(this.#value(predicate!), "boolean").js};`);
      return;
    }
    this.#emit(`const ${item} = ${element};`);
    if (predicate) this.#emit(`if (!${this.#as(this.#value(predicate), "boolean").js}) continue;`);
    if (macro === "exists_one") {
      this.#charge(2);
      this.#emit(`${result} += 1;`);
      return;
    }
    const made = this.#whole(this.#value(transform!));
    this.#emit(`${result}.push(${made.js});`);
    this.#charge(2 + (made.constant ? 0 : listCost));
  }
}
