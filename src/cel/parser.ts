// From source text to a syntax tree, by recursive descent, with the limits of the reference on size and depth.

import { type Steps, finishSteps } from "#base";
import { type Expression, type ListLiteral, type MapEntry, type MapLiteral, qualifiedName } from "./ast.ts";
import { type Token, tokenize } from "./lexer.ts";
import {
  LiteralError,
  bytesLiteral,
  doubleLiteral,
  intLiteral,
  stringLiteral,
  uintLiteral,
} from "./literals.ts";
import { MacroError, type NodeFactory } from "./macro-loops.ts";
import { expandMacro } from "./macros.ts";
import type { SourceError } from "./source.ts";
import { syntaxErrors } from "./syntax-errors.ts";
import type { Value } from "./values.ts";

const longestSource = 100_000;
const deepest = 250;
/** How many grammar rules one nested expression enters. */
const rulesPerNesting = 6;

const reserved = new Set(
  (
    "as break const continue else false for function if import in let loop package namespace null return " +
    "true var void while"
  ).split(" "),
);
const startOfExpression =
  "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";
/** How tightly the operators between two operands bind. */
const bindings = new Map([
  ["||", 1],
  ["&&", 2],
  ...["<", "<=", ">=", ">", "==", "!=", "in"].map((sign) => [sign, 3] as const),
  ["+", 4],
  ["-", 4],
  ["*", 5],
  ["/", 5],
  ["%", 5],
]);
const logicalAnd = 2;

const bindingOf = ({ kind, text }: Token): number =>
  kind === "operator" || kind === "in" ? (bindings.get(text) ?? 0) : 0;
const operatorName = (sign: string): string => (sign === "in" ? "@in" : `_${sign}_`);

export type Parsed =
  | { readonly expression: Expression; readonly errors?: undefined }
  | { readonly errors: readonly SourceError[] };

class SyntaxFailure extends Error {
  readonly offset: number;
  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}

/** A token that does not belong where it stands. */
class UnexpectedToken extends SyntaxFailure {}

export interface ParseOptions {
  /** Whether `a.?b`, `a[?b]`, `[?a]`, `{?a: b}` and the macros of optional values are part of the language. */
  readonly optionals: boolean;
  /** Whether there are macros with two variables. */
  readonly twoVariables: boolean;
}

export const parse = (source: string, options: ParseOptions): Parsed =>
  finishSteps(parseSteps(source, options));

export function* parseSteps(source: string, options: ParseOptions): Steps<Parsed> {
  const size = source.length > longestSource ? Array.from(source).length : source.length;
  if (size > longestSource) {
    const message = `expression code point size exceeds limit: size: ${size}, limit ${longestSource}`;
    return { errors: [{ offset: -1, message }] };
  }
  const { tokens, errors } = tokenize(source);
  yield;
  const parser = new Parser(tokens, options);
  try {
    const expression = parser.start();
    errors.push(...parser.errors);
    return errors.length > 0 ? { errors } : { expression };
  } catch (error) {
    if (!(error instanceof SyntaxFailure)) throw error;
    yield;
    const found = error instanceof UnexpectedToken && !options.optionals ? syntaxErrors(source, tokens) : [];
    const first = { offset: error.offset, message: error.message };
    return { errors: [...errors, ...parser.errors, ...(found.length > 0 ? found : [first])] };
  }
}

class Parser implements NodeFactory {
  readonly errors: SourceError[] = [];
  readonly #tokens: readonly Token[];
  readonly #options: ParseOptions;
  #at = 0;
  #lastId = 0;
  #depth = 1;

  constructor(tokens: readonly Token[], options: ParseOptions) {
    this.#tokens = tokens;
    this.#options = options;
  }

  id = (): number => (this.#lastId += 1);

  start(): Expression {
    const expression = this.#nested();
    if (this.#token.kind !== "end") {
      const last = this.#tokens[this.#at + 1]?.kind === "end";
      throw this.#unexpected(last ? "extraneous" : "mismatched", "<EOF>");
    }
    return expression;
  }

  get #token(): Token {
    return this.#tokens[this.#at]!;
  }

  #unexpected(what: string, expecting: string): UnexpectedToken {
    const { text, offset } = this.#token;
    return new UnexpectedToken(offset, `Syntax error: ${what} input '${text}' expecting ${expecting}`);
  }

  /** The token, when it is this operator (or the word `in`). */
  #accept(text: string): Token | undefined {
    const token = this.#token;
    if ((token.kind !== "operator" && token.kind !== "in") || token.text !== text) return undefined;
    this.#at += 1;
    return token;
  }

  #expect(text: string): Token {
    const token = this.#accept(text);
    if (!token) throw this.#unexpected("mismatched", `'${text}'`);
    return token;
  }

  #checkDepth(depth: number): void {
    if (depth > deepest) throw new SyntaxFailure(-1, "max recursion depth exceeded");
  }

  #nested(): Expression {
    this.#depth += rulesPerNesting;
    this.#checkDepth(this.#depth);
    const expression = this.#ternary();
    this.#depth -= rulesPerNesting;
    return expression;
  }

  #ternary(): Expression {
    const condition = this.#binary(1);
    const mark = this.#accept("?");
    if (!mark) return condition;
    const whenTrue = this.#binary(1);
    this.#expect(":");
    const whenFalse = this.#nested();
    return this.#call(mark, "_?_:_", [condition, whenTrue, whenFalse]);
  }

  /** Operators that bind at least as tightly as asked, by precedence climbing. */
  #binary(least: number): Expression {
    let left = this.#unary();
    for (let length = 1; ; length += 1) {
      const sign = this.#token;
      const binding = bindingOf(sign);
      if (binding < least) return left;
      if (binding <= logicalAnd) left = this.#logical(left, binding);
      else {
        this.#checkDepth(this.#depth + length);
        this.#at += 1;
        left = this.#call(sign, operatorName(sign.text), [left, this.#binary(binding + 1)]);
      }
    }
  }

  /** A chain of `&&` or `||` becomes a balanced tree: its depth grows with the logarithm of its length. */
  #logical(first: Expression, binding: number): Expression {
    const terms = [first];
    const signs: Token[] = [];
    while (bindingOf(this.#token) === binding) {
      signs.push(this.#token);
      this.#at += 1;
      terms.push(this.#binary(binding + 1));
    }
    const name = operatorName(signs[0]!.text);
    const balance = (from: number, to: number): Expression => {
      const middle = (from + to + 1) >> 1;
      const left = middle === from ? terms[middle]! : balance(from, middle - 1);
      const right = middle === to ? terms[middle + 1]! : balance(middle + 1, to);
      return this.#call(signs[middle]!, name, [left, right]);
    };
    return balance(0, signs.length - 1);
  }

  /** Pairs of `!` or `-` cancel out; a minus before a number belongs to the number. */
  #unary(): Expression {
    const text = this.#token.kind === "operator" ? this.#token.text : "";
    if (text !== "!" && text !== "-") return this.#member();
    const first = this.#token;
    let count = 0;
    while (this.#accept(text)) count += 1;
    const number = this.#token.kind === "int" || this.#token.kind === "double";
    const signed = text === "-" && number;
    if (signed) this.#at -= 1;
    const operand = this.#member(signed);
    const odd = (signed ? count - 1 : count) % 2 === 1;
    return odd ? this.#call(first, text === "!" ? "!_" : "-_", [operand]) : operand;
  }

  #member(signed = false): Expression {
    let operand = this.#primary(signed);
    for (let length = 1; ; length += 1) {
      this.#checkDepth(this.#depth + length);
      const dot = this.#accept(".");
      const bracket = dot ? undefined : this.#accept("[");
      const brace = dot || bracket ? undefined : this.#accept("{");
      if (dot) operand = this.#selectOrCall(operand, dot);
      else if (bracket) {
        const optional = this.#acceptOptional();
        const index = this.#nested();
        this.#expect("]");
        operand = this.#call(bracket, optional ? "_[?_]" : "_[_]", [operand, index]);
      } else if (brace) operand = this.#object(operand, brace);
      else return operand;
    }
  }

  /** The mark of what may be absent, where the language has it. */
  #acceptOptional(): boolean {
    return this.#options.optionals && this.#accept("?") !== undefined;
  }

  #selectOrCall(operand: Expression, dot: Token): Expression {
    const optional = this.#acceptOptional();
    const field = this.#name();
    if (optional) {
      const name: Expression = { kind: "literal", id: this.id(), offset: field.offset, value: field.text };
      return this.#call(dot, "_?._", [operand, name]);
    }
    const open = this.#accept("(");
    if (!open)
      return { kind: "select", id: this.id(), offset: dot.offset, operand, field: field.text, test: false };
    return this.#call(open, field.text, this.#arguments(")"), operand);
  }

  #name(): Token {
    const token = this.#token;
    if (token.kind !== "name") throw this.#unexpected("mismatched", "IDENTIFIER");
    this.#at += 1;
    return token;
  }

  #object(type: Expression, brace: Token): Expression {
    const name = qualifiedName(type);
    if (name === undefined) this.errors.push({ offset: type.offset, message: "expected a qualified name" });
    const entries: { field: string; value: Expression; offset: number }[] = [];
    while (!this.#closed("}", entries)) {
      const field = this.#name().text;
      const { offset } = this.#expect(":");
      entries.push({ field, value: this.#nested(), offset });
      if (!this.#accept(",")) {
        this.#expect("}");
        break;
      }
    }
    return { kind: "object", id: this.id(), offset: brace.offset, name: name ?? "", entries };
  }

  #primary(signed: boolean): Expression {
    const token = this.#token;
    if (token.kind === "name" || (token.kind === "operator" && token.text === ".")) return this.#global();
    if (this.#accept("(")) {
      const expression = this.#nested();
      this.#expect(")");
      return expression;
    }
    if (this.#accept("[")) return this.#list(token);
    if (this.#accept("{")) return this.#map(token);
    return this.#literal(signed);
  }

  #global(): Expression {
    const dot = this.#accept(".");
    const name = this.#name();
    const offset = (dot ?? name).offset;
    if (reserved.has(name.text)) this.errors.push({ offset, message: `reserved identifier: ${name.text}` });
    const text = (dot ? "." : "") + name.text;
    const open = this.#accept("(");
    if (open) return this.#call(open, text, this.#arguments(")"));
    return { kind: "identifier", id: this.id(), offset: name.offset, name: text };
  }

  /** Expressions up to the closing sign. */
  #arguments(close: string): Expression[] {
    const args: Expression[] = [];
    if (this.#accept(close)) return args;
    do args.push(this.#nested());
    while (this.#accept(","));
    this.#expect(close);
    return args;
  }

  /** The end of a list or map; one without entries may have a comma, too. */
  #closed(close: string, entries: readonly unknown[]): boolean {
    if (entries.length === 0 && this.#accept(",")) this.#expect(close);
    else return this.#accept(close) !== undefined;
    return true;
  }

  #list({ offset }: Token): ListLiteral {
    const elements: Expression[] = [];
    const optional = new Set<number>();
    while (!this.#closed("]", elements)) {
      if (this.#acceptOptional()) optional.add(elements.length);
      elements.push(this.#nested());
      if (!this.#accept(",")) {
        this.#expect("]");
        break;
      }
    }
    return { kind: "list", id: this.id(), offset, elements, ...(optional.size > 0 && { optional }) };
  }

  #map({ offset }: Token): MapLiteral {
    const entries: MapEntry[] = [];
    while (!this.#closed("}", entries)) {
      const optional = this.#acceptOptional();
      const key = this.#nested();
      this.#expect(":");
      entries.push({ key, value: this.#nested(), ...(optional && { optional }) });
      if (!this.#accept(",")) {
        this.#expect("}");
        break;
      }
    }
    return { kind: "map", id: this.id(), offset, entries };
  }

  #literal(signed: boolean): Expression {
    const sign = signed ? this.#accept("-") : undefined;
    const token = this.#token;
    const offset = (sign ?? token).offset;
    const text = (sign ? "-" : "") + token.text;
    const value = this.#valueOf(token, text, offset);
    if (value === undefined) throw this.#unexpected("mismatched", startOfExpression);
    this.#at += 1;
    return { kind: "literal", id: this.id(), offset, value };
  }

  #valueOf({ kind }: Token, text: string, offset: number): Value | undefined {
    try {
      switch (kind) {
        case "int":
          return intLiteral(text);
        case "uint":
          return uintLiteral(text);
        case "double":
          return doubleLiteral(text);
        case "string":
          return stringLiteral(text);
        case "bytes":
          return bytesLiteral(text);
        case "true":
          return true;
        case "false":
          return false;
        case "null":
          return null;
        default:
          return undefined;
      }
    } catch (error) {
      if (!(error instanceof LiteralError)) throw error;
      this.errors.push({ offset, message: error.message });
      return null;
    }
  }

  #call({ offset }: Token, name: string, args: readonly Expression[], target?: Expression): Expression {
    try {
      const expanded = expandMacro(this, offset, { name, args, ...(target && { target }) }, this.#options);
      if (expanded) return expanded;
    } catch (error) {
      if (!(error instanceof MacroError)) throw error;
      this.errors.push({ offset: error.offset ?? offset, message: error.message });
      return { kind: "literal", id: this.id(), offset, value: null };
    }
    return { kind: "call", id: this.id(), offset, name, args, ...(target && { target }) };
  }
}
