// The parser: recursive descent from source text to a syntax tree, with the reference's limits on size and
// depth.

import { type Steps, finishSteps } from "#base";
import type { Expression, ListLiteral, MapEntry, MapLiteral } from "./ast.ts";
import { brokenSyntax } from "./broken-syntax.ts";
import { maxNesting, operatorName, rulesPerNesting } from "./grammar.ts";
import { type Token, tokenize } from "./lexer.ts";
import { TreeBuilder } from "./tree-builder.ts";
import { maxPerStep, resumed, stepEnds } from "./resumed.ts";
import { type SourceError, distinctErrors } from "./source.ts";

const maxSourceLength = 100_000;
/**
 * For longer invalid expressions, which are unlikely to be handwritten, only the first syntax error is
 * reported.
 */
const maxRecoveryLength = 4096;
const startOfExpression =
  "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";
/** Precedence of binary operators. */
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

/** Reports whether a preceding minus belongs to the token. */
const isNumber = (token: Token | undefined): boolean => token?.kind === "int" || token?.kind === "double";

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

export interface ParseOptions {
  /** Whether `a.?b`, `a[?b]`, `[?a]`, `{?a: b}` and the macros of optional values are enabled. */
  readonly optionals: boolean;
  /** Whether the macros with two variables are enabled. */
  readonly twoVariables: boolean;
}

export const parse = (source: string, options: ParseOptions): Parsed =>
  finishSteps(parseSteps(source, options));

export function* parseSteps(source: string, options: ParseOptions): Steps<Parsed> {
  const size = source.length > maxSourceLength ? Array.from(source).length : source.length;
  if (size > maxSourceLength) {
    const message = `expression code point size exceeds limit: size: ${size}, limit ${maxSourceLength}`;
    return { errors: [{ offset: -1, message }] };
  }
  const { tokens, errors } = yield* tokenize(source);
  yield;
  const parsed = yield* new Parser(tokens, options).parse();
  if (!parsed.errors && errors.length === 0) return parsed;
  yield;
  const isRead = !options.optionals && source.length <= maxRecoveryLength;
  const all = isRead ? brokenSyntax(source, tokens, options) : [];
  return { errors: [...errors, ...(all.length > 0 ? all : (parsed.errors ?? []))] };
}

interface ParsedElement {
  readonly expression: Expression;
  /** The first token after the element. */
  readonly end: number;
}

/**
 * Stops at the first unexpected token; `brokenSyntax` finds the other errors.
 *
 * As nesting is limited, a long expression is wide: it has many elements in a list, a map, a call or a chain
 * of
 * `&&` or `||`. When parsing in steps, finished elements are kept, and each step descends from the start
 * again,
 * skipping them:
 *
 *     [a, b, c, d, e]
 *      -----           kept by the first step
 *            ----      the second step continues here
 */
class Parser {
  readonly #build: TreeBuilder;
  readonly #tokens: readonly Token[];
  readonly #options: ParseOptions;
  /** Indexed by their first token; not kept if the expression is parsed in one step. */
  readonly #elements: Map<number, ParsedElement> | undefined;
  #at = 0;
  #depth = 1;
  #endOfStep = maxPerStep;

  constructor(tokens: readonly Token[], options: ParseOptions) {
    this.#tokens = tokens;
    this.#options = options;
    if (tokens.length > maxPerStep) this.#elements = new Map();
    this.#build = new TreeBuilder(options);
  }

  parse(): Steps<Parsed> {
    return resumed(
      () => this.#attempt(),
      () => {
        this.#endOfStep = this.#at + maxPerStep;
        this.#at = 0;
        this.#depth = 1;
      },
    );
  }

  #attempt(): Parsed {
    const { errors } = this.#build;
    try {
      const expression = this.#start();
      return errors.length > 0 ? { errors: this.#withoutDuplicates(errors) } : { expression };
    } catch (error) {
      if (!(error instanceof SyntaxFailure)) throw error;
      return {
        errors: [...this.#withoutDuplicates(errors), { offset: error.offset, message: error.message }],
      };
    }
  }

  /** Tokens outside of elements are parsed again by each step, so their errors repeat. */
  #withoutDuplicates(errors: readonly SourceError[]): readonly SourceError[] {
    return this.#elements ? distinctErrors(errors) : errors;
  }

  /** Parses an element: operators of at least this precedence, or a whole expression for 0. */
  #element(least: number): Expression {
    const start = this.#at;
    const known = this.#elements?.get(start);
    if (known) {
      this.#at = known.end;
      return known.expression;
    }
    const expression = least === 0 ? this.#nested() : this.#binary(least);
    if (this.#elements) {
      this.#elements.set(start, { expression, end: this.#at });
      if (this.#at >= this.#endOfStep) throw stepEnds;
    }
    return expression;
  }

  #start(): Expression {
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

  #unexpected(what: string, expecting: string): SyntaxFailure {
    const { text, offset } = this.#token;
    return new SyntaxFailure(offset, `Syntax error: ${what} input '${text}' expecting ${expecting}`);
  }

  /** Accepts the token if it is this operator (or the word `in`). */
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
    if (depth > maxNesting) throw new SyntaxFailure(-1, "max recursion depth exceeded");
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
    return this.#build.call(mark, "_?_:_", [condition, whenTrue, whenFalse]);
  }

  /** Parses operators of at least the given precedence, by precedence climbing. */
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
        left = this.#build.call(sign, operatorName(sign.text), [left, this.#binary(binding + 1)]);
      }
    }
  }

  #logical(first: Expression, binding: number): Expression {
    const terms = [first];
    const signs: Token[] = [];
    while (bindingOf(this.#token) === binding) {
      signs.push(this.#token);
      this.#at += 1;
      terms.push(this.#element(binding + 1));
    }
    return this.#build.chain(operatorName(signs[0]!.text), terms, signs);
  }

  /** Pairs of `!` or `-` cancel out; a single minus before a number belongs to the number. */
  #unary(): Expression {
    const text = this.#token.kind === "operator" ? this.#token.text : "";
    if (text !== "!" && text !== "-") return this.#member();
    const first = this.#token;
    let count = 0;
    while (this.#accept(text)) count += 1;
    if (text === "-" && count === 1 && isNumber(this.#token)) {
      this.#at -= 1;
      return this.#member();
    }
    const operand = this.#member();
    return count % 2 === 1 ? this.#build.call(first, text === "!" ? "!_" : "-_", [operand]) : operand;
  }

  #member(): Expression {
    let operand = this.#primary();
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
        operand = this.#build.call(bracket, optional ? "_[?_]" : "_[_]", [operand, index]);
      } else if (brace) operand = this.#object(operand, brace);
      else return operand;
    }
  }

  /** Accepts the mark of an optional element, if enabled. */
  #acceptOptional(): boolean {
    return this.#options.optionals && this.#accept("?") !== undefined;
  }

  #selectOrCall(operand: Expression, dot: Token): Expression {
    const optional = this.#acceptOptional();
    const field = this.#name();
    if (optional) {
      const name: Expression = {
        kind: "literal",
        id: this.#build.id(),
        offset: field.offset,
        value: field.text,
      };
      return this.#build.call(dot, "_?._", [operand, name]);
    }
    const open = this.#accept("(");
    if (!open) return this.#build.select(dot, operand, field.text);
    return this.#build.call(open, field.text, this.#arguments(")"), operand);
  }

  #name(): Token {
    const token = this.#token;
    if (token.kind !== "name") throw this.#unexpected("mismatched", "IDENTIFIER");
    this.#at += 1;
    return token;
  }

  #object(type: Expression, brace: Token): Expression {
    const entries: { field: string; value: Expression; offset: number }[] = [];
    while (!this.#closed("}", entries)) {
      const field = this.#name().text;
      const { offset } = this.#expect(":");
      entries.push({ field, value: this.#element(0), offset });
      if (!this.#accept(",")) {
        this.#expect("}");
        break;
      }
    }
    return this.#build.message(type, brace, () => entries);
  }

  #primary(): Expression {
    const token = this.#token;
    if (token.kind === "name" || (token.kind === "operator" && token.text === ".")) return this.#global();
    if (this.#accept("(")) {
      const expression = this.#nested();
      this.#expect(")");
      return expression;
    }
    if (this.#accept("[")) return this.#list(token);
    if (this.#accept("{")) return this.#map(token);
    return this.#literal();
  }

  #global(): Expression {
    const dot = this.#accept(".");
    const name = this.#name();
    const open = this.#accept("(");
    const args = open ? this.#arguments(")") : [];
    return this.#build.global({ dot, name, open }, () => args);
  }

  /** Parses expressions up to the closing token. */
  #arguments(close: string): Expression[] {
    const args: Expression[] = [];
    if (this.#accept(close)) return args;
    do args.push(this.#element(0));
    while (this.#accept(","));
    this.#expect(close);
    return args;
  }

  /** Accepts the end of a list or map; an empty one may contain a comma. */
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
      elements.push(this.#element(0));
      if (!this.#accept(",")) {
        this.#expect("]");
        break;
      }
    }
    return { kind: "list", id: this.#build.id(), offset, elements, ...(optional.size > 0 && { optional }) };
  }

  #map({ offset }: Token): MapLiteral {
    const entries: MapEntry[] = [];
    while (!this.#closed("}", entries)) {
      const optional = this.#acceptOptional();
      const key = this.#element(0);
      this.#expect(":");
      entries.push({ key, value: this.#element(0), ...(optional && { optional }) });
      if (!this.#accept(",")) {
        this.#expect("}");
        break;
      }
    }
    return { kind: "map", id: this.#build.id(), offset, entries };
  }

  #literal(): Expression {
    const sign = isNumber(this.#tokens[this.#at + 1]) ? this.#accept("-") : undefined;
    const literal = this.#build.literal(this.#token, sign);
    if (!literal) throw this.#unexpected("mismatched", startOfExpression);
    this.#at += 1;
    return literal;
  }
}
