// The careful parser. It keeps what JSON.parse discards (duplicate keys, the spelling of numbers, positions),
// limits the nesting depth, and reports syntax errors with kube-apiserver's wording.

import { setOwn } from "#base";

export class JsonSyntaxError extends Error {
  override readonly name = "JsonSyntaxError";
}

/** Default limit on nesting depth; deeper documents are rejected. */
export const defaultMaxDepth = 1000;

export class NumberNode {
  readonly literal: string;
  constructor(literal: string) {
    this.literal = literal;
  }
}
export class ObjectNode {
  readonly keys: string[] = [];
  readonly values: Node[] = [];
  /** Offset of each key. */
  readonly offsets: number[] = [];
  /** Start and end offset of the object's text, braces included. */
  start = 0;
  end = 0;
}
export type Node = null | boolean | string | NumberNode | ObjectNode | readonly Node[];

export interface ParseOptions {
  readonly maxDepth?: number | undefined;
}

/** Parses text into nodes. */
export function parseTree(text: string, { maxDepth = defaultMaxDepth }: ParseOptions = {}): Node {
  return new TreeParser(text, maxDepth).document();
}

class TreeParser {
  readonly #text: string;
  readonly #maxDepth: number;
  #at = 0;
  #depth = 0;

  constructor(text: string, maxDepth: number) {
    this.#text = text;
    this.#maxDepth = maxDepth;
  }

  document(): Node {
    const value = this.#value();
    this.#space();
    if (this.#at < this.#text.length) throw this.#unexpected("after top-level value");
    return value;
  }

  #space(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return;
      this.#at++;
    }
  }

  #unexpected(where: string): JsonSyntaxError {
    if (this.#at >= this.#text.length) return new JsonSyntaxError("unexpected end of JSON input");
    const character = String.fromCodePoint(this.#text.codePointAt(this.#at)!);
    const shown =
      character === "'" ? "\\'" : character === '"' ? '"' : JSON.stringify(character).slice(1, -1);
    return new JsonSyntaxError(`invalid character '${shown}' ${where}`);
  }

  #value(): Node {
    this.#space();
    const code = this.#text.charCodeAt(this.#at);
    switch (code) {
      case 123:
        return this.#object();
      case 91:
        return this.#array();
      case 34:
        return this.#string();
      case 116:
        return this.#word("true", true);
      case 102:
        return this.#word("false", false);
      case 110:
        return this.#word("null", null);
      default:
        if (code === 45 || (code >= 48 && code <= 57)) return this.#number();
        throw this.#unexpected("looking for beginning of value");
    }
  }

  #word<T>(word: string, value: T): T {
    for (let i = 1; i < word.length; i++) {
      if (this.#text[++this.#at] !== word[i])
        throw this.#unexpected(`in literal ${word} (expecting '${word[i]}')`);
    }
    this.#at++;
    return value;
  }

  #enter(): void {
    if (++this.#depth > this.#maxDepth) throw new JsonSyntaxError("exceeded max depth");
    this.#at++;
    this.#space();
  }

  #object(): ObjectNode {
    const node = new ObjectNode();
    node.start = this.#at;
    this.#enter();
    if (this.#text.charCodeAt(this.#at) === 125) this.#at++;
    else {
      for (;;) {
        if (this.#text.charCodeAt(this.#at) !== 34)
          throw this.#unexpected("looking for beginning of object key string");
        node.offsets.push(this.#at);
        node.keys.push(this.#string());
        this.#space();
        if (this.#text.charCodeAt(this.#at) !== 58) throw this.#unexpected("after object key");
        this.#at++;
        node.values.push(this.#value());
        this.#space();
        const code = this.#text.charCodeAt(this.#at);
        if (code === 125) break;
        if (code !== 44) throw this.#unexpected("after object key:value pair");
        this.#at++;
        this.#space();
      }
      this.#at++;
    }
    this.#depth--;
    node.end = this.#at;
    return node;
  }

  #array(): Node[] {
    const items: Node[] = [];
    this.#enter();
    if (this.#text.charCodeAt(this.#at) === 93) this.#at++;
    else {
      for (;;) {
        items.push(this.#value());
        this.#space();
        const code = this.#text.charCodeAt(this.#at);
        if (code === 93) break;
        if (code !== 44) throw this.#unexpected("after array element");
        this.#at++;
      }
      this.#at++;
    }
    this.#depth--;
    return items;
  }

  #string(): string {
    const text = this.#text;
    const start = ++this.#at;
    let escaped = false;
    for (; ; this.#at++) {
      const code = text.charCodeAt(this.#at);
      if (code === 34) break;
      if (code === 92) {
        escaped = true;
        this.#escape();
      } else if (!(code >= 32)) throw this.#unexpected("in string literal");
    }
    const inner = text.slice(start, this.#at++);
    if (!escaped) return inner;
    // an unpaired surrogate becomes the replacement character
    return (JSON.parse(`"${inner}"`) as string).toWellFormed();
  }

  #escape(): void {
    const code = this.#text[++this.#at];
    if (code === "u") {
      for (let i = 0; i < 4; i++) {
        this.#at++;
        if (!/^[0-9a-fA-F]$/.test(this.#text[this.#at] ?? ""))
          throw this.#unexpected("in \\u hexadecimal character escape");
      }
    } else if (code === undefined || !'"\\/bfnrt'.includes(code))
      throw this.#unexpected("in string escape code");
  }

  #digits(where: string): void {
    const digit = () => {
      const code = this.#text.charCodeAt(this.#at);
      return code >= 48 && code <= 57;
    };
    if (!digit()) throw this.#unexpected(where);
    while (digit()) this.#at++;
  }

  #number(): NumberNode {
    const text = this.#text;
    const start = this.#at;
    if (text[this.#at] === "-") this.#at++;
    if (text[this.#at] === "0") this.#at++;
    else this.#digits("in numeric literal");
    if (text[this.#at] === ".") {
      this.#at++;
      this.#digits("after decimal point in numeric literal");
    }
    if (text[this.#at] === "e" || text[this.#at] === "E") {
      this.#at++;
      if (text[this.#at] === "+" || text[this.#at] === "-") this.#at++;
      this.#digits("in exponent of numeric literal");
    }
    return new NumberNode(text.slice(start, this.#at));
  }
}

const int64Most = (1n << 63n) - 1n;

/**
 * Parses an integer literal within 64 bits: a number, or a bigint if a number would lose digits; undefined
 * for anything else.
 */
export function integerOf(literal: string): number | bigint | undefined {
  if (!/^-?[0-9]+$/.test(literal)) return undefined;
  const value = Number(literal);
  if (Number.isSafeInteger(value)) return value === 0 ? 0 : value;
  if (literal.length > 20) return undefined;
  const exact = BigInt(literal);
  return exact >= -int64Most - 1n && exact <= int64Most ? exact : undefined;
}

/** Converts a number for use in untyped data. Returns undefined beyond the range of a double. */
export function numberOf({ literal }: NumberNode): number | bigint | undefined {
  const integer = integerOf(literal);
  if (integer !== undefined) return integer;
  const value = Number(literal);
  return Number.isFinite(value) ? value : undefined;
}

/** Converts nodes to plain data; of duplicate keys the last one wins. */
export function plainValue(
  node: Node,
  duplicate?: (path: string, offset: number) => void,
  path = "",
): unknown {
  if (node instanceof NumberNode) {
    const value = numberOf(node);
    if (value === undefined)
      throw new JsonSyntaxError(
        `json: cannot unmarshal number ${node.literal} into Go value of type float64`,
      );
    return value;
  }
  if (Array.isArray(node))
    return node.map((item: Node, index) => plainValue(item, duplicate, duplicate && `${path}[${index}]`));
  if (node instanceof ObjectNode) {
    const result: Record<string, unknown> = {};
    node.keys.forEach((key, index) => {
      const place = duplicate && (path ? `${path}.${key}` : key);
      if (duplicate && Object.hasOwn(result, key)) duplicate(place!, node.offsets[index]!);
      setOwn(result, key, plainValue(node.values[index]!, duplicate, place));
    });
    return result;
  }
  return node;
}

export interface ParsedJson {
  readonly value: unknown;
  /** Paths of duplicate keys, in order of appearance. */
  readonly duplicate: readonly string[];
}

/** Parses untyped data. Integers stay exact and duplicate keys are reported. */
export function parseJson(text: string, options: ParseOptions = {}): ParsedJson {
  const duplicate = new Set<string>();
  const allowance = reportAllowance();
  const value = plainValue(parseTree(text, options), (path) => {
    if (allowance.takes(duplicate.size, path)) duplicate.add(path);
  });
  return { value, duplicate: [...duplicate] };
}

/** Maximum number of distinct findings that are reported, as in kube-apiserver. */
const maxFindings = 100;
/** Limit on the total length of the paths examined for reporting. */
const maxReportedCharacters = 1 << 20;

/**
 * Bounds the findings reported for a document. Paths are ropes that cost nothing until they are hashed or
 * printed, so their length is charged before that.
 */
export function reportAllowance(): { takes(reported: number, path: string): boolean } {
  let left = maxReportedCharacters;
  return {
    takes(reported, path) {
      if (reported >= maxFindings || left <= 0) return false;
      left -= path.length;
      return true;
    },
  };
}

/** Parses untyped data; returns undefined if an object has a duplicate key. */
export function parseUniqueJson(text: string, options: ParseOptions = {}): { value: unknown } | undefined {
  const found = new Error("duplicate key");
  try {
    return {
      value: plainValue(parseTree(text, options), () => {
        throw found;
      }),
    };
  } catch (error) {
    if (error === found) return undefined;
    throw error;
  }
}

/** Removes the whitespace between the tokens of a JSON text. */
export function compactText(text: string): string {
  return text.replace(/"(?:[^"\\]|\\.)*"|[ \n\r\t]+/g, (token) => (token.charCodeAt(0) === 34 ? token : ""));
}
