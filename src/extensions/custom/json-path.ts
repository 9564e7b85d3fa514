// JSONPath of printer columns, parsed and evaluated as in the reference: names with escapes, indices and
// slices,
// unions, filters, wildcards and recursive descent.
//
//   .spec.replicas    .status.conditions[?(@.type=="Ready")].status    .spec.ports[0].name    .metadata.labels.a\.b

type Node =
  | { readonly is: "field"; readonly name: string }
  | { readonly is: "wildcard" }
  | { readonly is: "descent" }
  | { readonly is: "slice"; readonly from: number; readonly to: Bound; readonly step: number | undefined }
  | { readonly is: "union"; readonly of: readonly (readonly Node[])[] }
  | {
      readonly is: "filter";
      readonly left: readonly Node[];
      readonly operator: string;
      readonly right: readonly Node[];
    }
  | { readonly is: "constant"; readonly value: unknown }
  /** Keywords such as `range`, which columns do not support. */
  | { readonly is: "word" };

/** The end of a slice; for a single index it is derived from the start. */
type Bound = { readonly at: number; readonly derived: boolean } | undefined;

/** The path is invalid or cannot be followed in this object. */
class PathError extends Error {
  override readonly name = "PathError";
}

/** A number written with a decimal point: it never equals an integer. */
class Fraction {
  readonly value: number;
  constructor(value: number) {
    this.value = value;
  }
}

const maxResults = 1000;

/** Called with the number of values about to be visited; may throw to end the search. */
export type CountVisits = (values: number) => void;

/**
 * Compiles a path to a function that finds its values, or undefined if it cannot be followed; returns
 * undefined for an invalid path.
 */
export function jsonPath(
  text: string,
): ((object: unknown, visit?: CountVisits) => readonly unknown[]) | undefined {
  try {
    const nodes = new Parser(text).nodes();
    return (object, visit = () => undefined) => orNothing(() => follow(nodes, [object], visit));
  } catch (error) {
    if (error instanceof PathError) return undefined;
    throw error;
  }
}

function orNothing(find: () => readonly unknown[]): readonly unknown[] {
  try {
    return find();
  } catch (error) {
    if (error instanceof PathError) return [];
    throw error;
  }
}

const name = /(?:\\[^]|[^\\\s.,[\]$@{}])*/y;
const word = /[\p{L}\p{N}_][^\s.,[\]$@{}]*/uy;
const number = /[+-]?[\d.]*/y;
const array = /\[[^\]\n]*\]/y;
const quoted = /"(?:\\[^]|[^"\\\n])*"|'(?:\\[^]|[^'\\\n])*'/y;
const slice = /^(-?\d*)(:-?\d*)?(:-?\d*)?$/;
const comparison = /^([^!<>=]+)([!<>=]+)(.+?)$/s;

class Parser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  nodes(): readonly Node[] {
    const nodes: Node[] = [];
    while (this.#at < this.#text.length && this.#text[this.#at] !== "}")
      nodes.push(...this.#next(nodes.at(-1)));
    return nodes;
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const [found = ""] = pattern.exec(this.#text) ?? [];
    this.#at += found.length;
    return found;
  }

  #next(before: Node | undefined): readonly Node[] {
    if (this.#text.startsWith("[?(", this.#at)) return [this.#filter()];
    if (this.#text.startsWith("..", this.#at)) return this.#descent(before);
    const first = this.#text[this.#at]!;
    switch (first) {
      case " ":
      case "@":
      case "$":
        this.#at += 1;
        return [];
      case "[":
        return this.#array();
      case '"':
      case "'":
        return [{ is: "constant", value: unquoted(this.#take(quoted)) }];
      case ".":
        this.#at += 1;
        return [this.#field()];
      default:
        return [/[+\-\d]/.test(first) ? this.#number() : this.#word()];
    }
  }

  #field(): Node {
    const found = this.#take(name);
    return found === "*" ? { is: "wildcard" } : { is: "field", name: found.replaceAll("\\", "") };
  }

  #descent(before: Node | undefined): readonly Node[] {
    if (before?.is === "descent") throw new PathError("two descents in a row");
    this.#at += 2;
    const named = /[\p{L}\p{N}_]/u.test(this.#text[this.#at] ?? "");
    return named ? [{ is: "descent" }, this.#field()] : [{ is: "descent" }];
  }

  #number(): Node {
    const found = this.#take(number);
    if (!/\d/.test(found) || Number.isNaN(Number(found))) throw new PathError(`no number: ${found}`);
    return { is: "constant", value: /^[+-]?\d+$/.test(found) ? Number(found) : new Fraction(Number(found)) };
  }

  #word(): Node {
    const found = this.#take(word);
    if (found === "") throw new PathError(`unrecognized character at ${this.#at}`);
    if (found === "true" || found === "false") return { is: "constant", value: found === "true" };
    return { is: "word" };
  }

  #array(): readonly Node[] {
    const found = this.#take(array);
    if (found === "") throw new PathError("unterminated array");
    const inner = found.slice(1, -1);
    const parts = inner.split(",");
    if (parts.length > 1)
      return [{ is: "union", of: parts.map((part) => new Parser(`[${part.trim()}]`).nodes()) }];
    const key = /^'([^']*)'$/.exec(inner)?.[1];
    return key === undefined ? [sliceOf(inner === "*" ? ":" : inner)] : new Parser(`.${key}`).nodes();
  }

  #filter(): Node {
    const end = this.#filterEnd(this.#at + 3);
    const text = this.#text.slice(this.#at + 3, end);
    if (this.#text[end + 1] !== "]") throw new PathError("unclosed array expect ]");
    this.#at = end + 2;
    const [, left, operator, right] = comparison.exec(text) ?? [];
    if (left === undefined || operator === undefined || right === undefined)
      return { is: "filter", left: new Parser(text).nodes(), operator: "exists", right: [] };
    return { is: "filter", left: new Parser(left).nodes(), operator, right: new Parser(right).nodes() };
  }

  /**
   * Returns the position of the closing parenthesis, skipping the one quoted string that a filter may
   * contain.
   */
  #filterEnd(begin: number): number {
    let pair = "";
    let closed = false;
    for (let at = begin; at < this.#text.length; at += 1) {
      const character = this.#text[at]!;
      if (character === "\n") break;
      if (character === ")" && (pair === "") === !closed) return at;
      if (character !== '"' && character !== "'") continue;
      if (pair === "") pair = character;
      else if (character === pair && this.#text[at - 1] !== "\\") closed = true;
    }
    throw new PathError("unterminated filter");
  }
}

function unquoted(text: string): string {
  if (text.length < 2) throw new PathError("unterminated quoted string");
  return text.slice(1, -1).replaceAll(/\\(.)/gs, "$1");
}

function sliceOf(text: string): Node {
  const [, from, to, step] = slice.exec(text) ?? [];
  if (from === undefined) throw new PathError(`invalid array index ${text}`);
  const begin = Number(from);
  if (Number.isNaN(begin)) throw new PathError(`array index ${text} is not a number`);
  const bound = (given: string | undefined): number | undefined =>
    given === undefined || given === ":" ? undefined : Number(given.slice(1));
  const end = bound(to);
  return {
    is: "slice",
    from: begin,
    to:
      to === undefined
        ? { at: begin + 1, derived: true }
        : end === undefined
          ? undefined
          : { at: end, derived: false },
    step: bound(step),
  };
}

function follow(nodes: readonly Node[], input: readonly unknown[], visit: CountVisits): readonly unknown[] {
  let values = input;
  for (const node of nodes) {
    values = walk(node, values, visit);
    if (values.length > maxResults) values = values.slice(0, maxResults);
  }
  return values;
}

function walk(node: Node, values: readonly unknown[], visit: CountVisits): readonly unknown[] {
  visit(values.length);
  switch (node.is) {
    case "field":
      return fieldsOf(values, node.name);
    case "wildcard":
      return values.flatMap((value) => children(value, visit));
    case "descent":
      return descend(values, [], visit);
    case "slice":
      return values.flatMap((value) => (value === null ? [] : sliced(node, value, visit)));
    case "union":
      return node.of.flatMap((nodes) => follow(nodes, values, visit));
    case "filter":
      return values.flatMap((value) => listOf(value).filter((item) => passes(node, item, visit)));
    case "constant":
      return values.length === 1 ? [node.value] : values.map(() => node.value);
    case "word":
      throw new PathError("unrecognized identifier");
  }
}

/** Filters call this for each item, so it creates nothing but the result. */
function fieldsOf(values: readonly unknown[], name: string): readonly unknown[] {
  const found: unknown[] = [];
  for (const value of values) if (isMap(value) && Object.hasOwn(value, name)) found.push(value[name]);
  return found;
}

const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new PathError("this is no list");
  return value;
}

/** Returns the values of a map in key order, or the items of a list. */
function children(value: unknown, visit: CountVisits): readonly unknown[] {
  if (Array.isArray(value)) return value.slice(0, maxResults);
  if (!isMap(value)) return [];
  const keys = Object.keys(value);
  visit(keys.length);
  return keys
    .sort()
    .slice(0, maxResults)
    .map((key) => value[key]);
}

function descend(values: readonly unknown[], found: unknown[], visit: CountVisits): readonly unknown[] {
  visit(values.length);
  for (const value of values) {
    if (found.length >= maxResults) break;
    const below = children(value, visit);
    if (below.length === 0) continue;
    found.push(value);
    descend(below, found, visit);
  }
  return found;
}

function sliced(
  { from, to, step = 1 }: Extract<Node, { is: "slice" }>,
  value: unknown,
  visit: CountVisits,
): readonly unknown[] {
  const list = listOf(value);
  const { length } = list;
  const begin = from < 0 ? from + length : from;
  let end = to?.at ?? length;
  if (end < 0 || (end === 0 && to?.derived)) end += length;
  if (begin === end) return [];
  if (begin >= length || begin < 0 || end > length || end < 0 || begin > end || step <= 0)
    throw new PathError("array index out of bounds");
  visit(end - begin);
  return list.slice(begin, end).filter((_, at) => at % step === 0);
}

function passes(
  { left, operator, right }: Extract<Node, { is: "filter" }>,
  item: unknown,
  visit: CountVisits,
): boolean {
  if (operator === "exists") return orNothing(() => follow(left, [item], visit)).length > 0;
  const [lefts, rights] = [follow(left, [item], visit), follow(right, [item], visit)];
  if (lefts.length === 0 || rights.length === 0) return false;
  if (lefts.length > 1 || rights.length > 1) throw new PathError("can only compare one element at a time");
  return compare(lefts[0], operator, rights[0]);
}

function kindOf(value: unknown): string {
  if (value instanceof Fraction) return "float";
  if (typeof value === "number") return Number.isInteger(value) ? "int" : "float";
  if (typeof value === "bigint") return "int";
  if (typeof value === "string" || typeof value === "boolean") return typeof value;
  throw new PathError("invalid type for comparison");
}

function compare(left: unknown, operator: string, right: unknown): boolean {
  const kind = kindOf(left);
  if (kind !== kindOf(right)) throw new PathError("incompatible types for comparison");
  const a = (left instanceof Fraction ? left.value : left) as number;
  const b = (right instanceof Fraction ? right.value : right) as number;
  if (operator === "==" || operator === "!=") return (a === b) === (operator === "==");
  if (kind === "boolean") throw new PathError("invalid type for comparison");
  switch (operator) {
    case "<":
      return a < b;
    case "<=":
      return a <= b;
    case ">":
      return a > b;
    case ">=":
      return a >= b;
    default:
      throw new PathError(`unrecognized filter operator ${operator}`);
  }
}
