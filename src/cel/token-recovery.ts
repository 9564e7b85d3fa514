// The tokens of an expression, taken one by one by the rules of its grammar. What does not fit is told in the words
// that clients know: the reference has a parser made by ANTLR, which reports an error, recovers, and goes on. This has
// its strategy: a token too many is skipped, a missing one is imagined, and otherwise the rule is left, up to a token
// with which one of the rules around it can go on.

import { deepest } from "./grammar.ts";
import { type Token, blanksIn } from "./lexer.ts";
import { type SourceError, reportSyntax } from "./source.ts";

/** In the order of their numbers, in which sets are shown. */
const signs =
  "== != in < <= >= > && || [ ] { } ( ) . , - ! ? : + * / % true false null NUM_FLOAT NUM_INT NUM_UINT STRING BYTES IDENTIFIER".split(
    " ",
  );
export const end = "<EOF>";
const numbers = new Map([end, ...signs].map((sign, number) => [sign, number]));
const classes: Partial<Record<Token["kind"], string>> = {
  double: "NUM_FLOAT",
  int: "NUM_INT",
  uint: "NUM_UINT",
  string: "STRING",
  bytes: "BYTES",
  name: "IDENTIFIER",
  end,
};
const typeOf = ({ kind, text }: Token): string => classes[kind] ?? text;

export type Types = ReadonlySet<string>;
const knownTypes = new Map<string, Types>();
/** Few, and asked for again and again. */
export const types = (text: string): Types =>
  knownTypes.getOrInsertComputed(text, () => new Set(text.split(" ")));
export const either = (...sets: readonly Types[]): Types => new Set(sets.flatMap((set) => [...set]));
export const nothing: Types = new Set();

/** What may follow, and whether the rule may end there, so that what follows the rule may, too. */
export interface Follow {
  readonly types: Types;
  readonly ends: boolean;
}
export const followedBy = (set: Types): Follow => ({ types: set, ends: false });
export const orEnd = (set: Types): Follow => ({ types: set, ends: true });

class Unexpected extends Error {}
/** So much is wrong, or nested, that the rest is not looked at. */
export class LimitReached extends Error {}

const mostRecoveries = 30;
/** The reference goes on up to its limit, which would be too much for our stack; it refuses all of these anyway. */
const deepestWalked = 100;

export class TokenRecovery {
  readonly errors: SourceError[] = [];
  readonly #source: string;
  readonly #tokens: readonly Token[];
  /** What may follow each of the rules that are being walked, the innermost last. */
  readonly #around: Follow[] = [];
  /** How many of them are of each name. */
  readonly #depths = new Map<string, number>();
  #at = 0;
  /** Set from an error to the next token that fits; nothing is reported meanwhile. */
  #recovering = false;
  #recoveries = 0;
  #lastRecovery = -1;
  readonly #recovered = new Set<string>();

  constructor(source: string, tokens: readonly Token[]) {
    this.#source = source;
    this.#tokens = tokens;
  }

  token(ahead = 0): Token {
    return this.#tokens[Math.min(this.#at + ahead, this.#tokens.length - 1)]!;
  }

  type(ahead = 0): string {
    return typeOf(this.token(ahead));
  }

  /** A rule of the grammar, which is left at a token that fits nowhere in it. */
  rule(name: string, follow: Follow, body: () => void): void {
    this.#around.push(follow);
    const depth = (this.#depths.get(name) ?? 0) + 1;
    if (depth >= deepestWalked) {
      this.errors.push({ offset: -1, message: `expression recursion limit exceeded: ${deepest}` });
      throw new LimitReached();
    }
    this.#depths.set(name, depth);
    try {
      body();
    } catch (error) {
      if (!(error instanceof Unexpected)) throw error;
      this.#recover(error.message);
    }
    this.#depths.set(name, depth - 1);
    this.#around.pop();
  }

  /** Before a choice that must be made: what stands here must begin one of its branches. */
  sync(expected: Types, state: string): void {
    if (this.#recovering || expected.has(this.type()) || this.#skipped(expected)) return;
    this.#report(() => `mismatched input ${this.#shown()} expecting ${listed(expected)}`);
    throw new Unexpected(state);
  }

  /** Between the turns of a loop: what begins neither the next turn nor what follows is skipped. */
  syncLoop(expected: Types): void {
    if (this.#recovering || expected.has(this.type())) return;
    this.#report(() => `extraneous input ${this.#shown()} expecting ${listed(expected)}`);
    this.#skipUntil(expected);
  }

  /** The token, or one that is imagined in its place. */
  match(type: string, after: Follow, state: string): Token {
    if (this.type() === type) return this.#matched();
    this.#countRecovery();
    const expected = types(type);
    if (this.#skipped(expected)) return this.#consume();
    if (this.#allowed(after).has(this.type())) {
      this.#report(() => `missing ${listed(expected)} at ${this.#shown()}`);
      const { offset } = this.type() === end && this.#at > 0 ? this.token(-1) : this.token();
      return { kind: "name", text: "", offset };
    }
    this.#report(() => `mismatched input ${this.#shown()} expecting ${listed(expected)}`);
    throw new Unexpected(state);
  }

  /** The token, if it stands here. */
  accept(type: string): Token | undefined {
    return this.type() === type ? this.#matched() : undefined;
  }

  /** Two tokens that no branch begins with, and the blanks between them. */
  noAlternative(state: string): never {
    const [first, wrong] = [this.token(), this.token(1)];
    const between = blanksIn(this.#source.slice(first.offset + first.text.length, wrong.offset));
    const input = `${first.text}${between}${wrong.kind === "end" ? "" : wrong.text}`;
    this.#report(() => `no viable alternative at input ${quoted(input)}`, wrong);
    throw new Unexpected(state);
  }

  /** Leaves the rule without a word: what is wrong was told before. */
  leave(state: string): never {
    throw new Unexpected(state);
  }

  #matched(): Token {
    this.#endRecovery();
    return this.#consume();
  }

  #endRecovery(): void {
    this.#recovering = false;
    this.#lastRecovery = -1;
    this.#recovered.clear();
  }

  #consume(): Token {
    const token = this.token();
    if (this.#at < this.#tokens.length - 1) this.#at += 1;
    return token;
  }

  #report(words: () => string, { offset } = this.token()): void {
    if (!this.#recovering) reportSyntax(this.errors, offset, words);
    this.#recovering = true;
  }

  #countRecovery(): void {
    if (this.#recoveries === mostRecoveries) {
      const { offset } = this.token();
      reportSyntax(this.errors, offset, () => `error recovery attempt limit exceeded: ${mostRecoveries}`);
      throw new LimitReached();
    }
    this.#recoveries += 1;
  }

  /** Skips tokens up to one with which some rule around can go on. */
  #recover(state: string): void {
    this.#countRecovery();
    if (this.#lastRecovery === this.#at && this.#recovered.has(state)) this.#consume();
    this.#lastRecovery = this.#at;
    this.#recovered.add(state);
    this.#skipUntil(nothing);
  }

  /** Skips tokens up to one of these, or one with which some rule around can go on. */
  #skipUntil(expected: Types): void {
    const fits = (type: string): boolean =>
      type === end || expected.has(type) || this.#around.some(({ types: set }) => set.has(type));
    while (!fits(this.type())) this.#consume();
  }

  /** What may stand after something in the rules as they are nested here. */
  #allowed({ types: set, ends }: Follow): Types {
    const sets = [set];
    for (let depth = this.#around.length - 1; ends && depth >= 0; depth -= 1) {
      const around = this.#around[depth]!;
      sets.push(around.types);
      if (!around.ends) break;
    }
    return either(...sets);
  }

  /** Skips one token, if the next one is expected. */
  #skipped(expected: Types): boolean {
    if (!expected.has(this.type(1))) return false;
    this.#report(() => `extraneous input ${this.#shown()} expecting ${listed(expected)}`);
    this.#consume();
    this.#endRecovery();
    return true;
  }

  #shown(): string {
    return quoted(this.token().text);
  }
}

const quoted = (text: string): string =>
  `'${text.replaceAll("\n", "\\n").replaceAll("\r", "\\r").replaceAll("\t", "\\t")}'`;

function listed(set: Types): string {
  const sorted = [...set].sort((a, b) => numbers.get(a)! - numbers.get(b)!);
  const shown = sorted.map((type) => (/^[A-Z<]{3}/.test(type) ? type : `'${type}'`));
  return shown.length === 1 ? shown[0]! : `{${shown.join(", ")}}`;
}
