// What is wrong with the syntax of an expression, in the words that clients know. The reference has a parser made by
// ANTLR: it reports an error, recovers, and goes on. This walks over the tokens rule by rule as that parser does, with
// its strategy: a token too many is skipped, a missing one is imagined, and otherwise the rule is left, up to a token
// with which one of the rules around it can go on. It runs for expressions that are refused already.

import type { Token } from "./lexer.ts";
import { type SourceError, mostErrors } from "./source.ts";

/** In the order of their numbers, in which sets are shown. */
const signs =
  "== != in < <= >= > && || [ ] { } ( ) . , - ! ? : + * / % true false null NUM_FLOAT NUM_INT NUM_UINT STRING BYTES IDENTIFIER".split(
    " ",
  );
const end = "<EOF>";
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

type Types = ReadonlySet<string>;
const knownTypes = new Map<string, Types>();
/** Few, and asked for again and again. */
const types = (text: string): Types => knownTypes.getOrInsertComputed(text, () => new Set(text.split(" ")));
const either = (...sets: readonly Types[]): Types => new Set(sets.flatMap((set) => [...set]));

const operand = types("[ { ( . - true false null NUM_FLOAT NUM_INT NUM_UINT STRING BYTES IDENTIFIER");
const expression = either(operand, types("!"));
const relations = types("== != in < <= >= >");
const products = types("* / %");
const sums = types("+ -");
const members = types(". [ {");
/** What a minus may belong to. */
const signable = types("NUM_INT NUM_FLOAT");
const nothing: Types = new Set();

/** What may follow, and whether the rule may end there, so that what follows the rule may, too. */
interface Follow {
  readonly types: Types;
  readonly ends: boolean;
}
const then = (set: Types): Follow => ({ types: set, ends: false });
const orEnd = (set: Types): Follow => ({ types: set, ends: true });
const afterOperand = orEnd(either(products, sums));
const afterMember = orEnd(either(types("("), members));
const argument = either(expression, types(")"));
const listItem = either(expression, types(", ]"));

/** An error at a token. The reference takes its own sentence for a format, to which it has no values. */
const syntaxError = (offset: number, message: string): SourceError => ({
  offset,
  ofToken: true,
  message: `Syntax error: ${message}`.replaceAll(formatted, (_, flags: string, verb: string) =>
    verb === "" ? "%!(NOVERB)" : verb === "%" && flags === "" ? "%" : `%!${verb}(MISSING)`,
  ),
});
/** Adds an error. Of those that are not shown there are no words. */
export function report(errors: SourceError[], offset: number, words: () => string): void {
  errors.push(errors.length < mostErrors ? syntaxError(offset, words()) : { offset, message: "" });
}

const formatted = /%([-+# 0]*\d*(?:\.\d*)?)([^]?)/gu;

class Unexpected extends Error {}
class LimitReached extends Error {}

const mostRecoveries = 30;
const deepest = 250;

export function syntaxErrors(source: string, tokens: readonly Token[]): SourceError[] {
  const walk = new Walk(source, tokens);
  try {
    walk.start();
  } catch (error) {
    if (!(error instanceof LimitReached)) throw error;
  }
  return walk.errors;
}

class Walk {
  readonly errors: SourceError[] = [];
  readonly #source: string;
  readonly #tokens: readonly Token[];
  /** What may follow each of the rules that are being walked, the innermost last. */
  readonly #around: Follow[] = [];
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

  start(): void {
    this.#rule(orEnd(nothing), () => {
      this.#expression(then(types(end)));
      this.#match(end, orEnd(nothing));
    });
  }

  #token(ahead = 0): Token {
    return this.#tokens[Math.min(this.#at + ahead, this.#tokens.length - 1)]!;
  }

  #type(ahead = 0): string {
    return typeOf(this.#token(ahead));
  }

  #consume(): void {
    if (this.#at < this.#tokens.length - 1) this.#at += 1;
  }

  #report(words: () => string, { offset } = this.#token()): void {
    if (!this.#recovering) report(this.errors, offset, words);
    this.#recovering = true;
  }

  #rule(follow: Follow, body: () => void): void {
    this.#around.push(follow);
    if (this.#around.length > deepest * 8) throw new LimitReached();
    try {
      body();
    } catch (error) {
      if (!(error instanceof Unexpected)) throw error;
      this.#recover(error.message);
    }
    this.#around.pop();
  }

  #countRecovery(): void {
    if (this.#recoveries === mostRecoveries) {
      const { offset } = this.#token();
      report(this.errors, offset, () => `error recovery attempt limit exceeded: ${mostRecoveries}`);
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
    while (!fits(this.#type())) this.#consume();
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
    if (!expected.has(this.#type(1))) return false;
    this.#report(() => `extraneous input ${this.#shown()} expecting ${listed(expected)}`);
    this.#consume();
    this.#recovering = false;
    return true;
  }

  #shown({ text } = this.#token()): string {
    return `'${text.replaceAll("\n", "\\n").replaceAll("\r", "\\r").replaceAll("\t", "\\t")}'`;
  }

  /** Before a choice that must be made: what stands here must begin one of its branches. */
  #sync(expected: Types, state: string): void {
    if (this.#recovering || expected.has(this.#type()) || this.#skipped(expected)) return;
    this.#report(() => `mismatched input ${this.#shown()} expecting ${listed(expected)}`);
    throw new Unexpected(state);
  }

  #match(type: string, after: Follow, state = type): void {
    if (this.#type() === type) {
      this.#recovering = false;
      this.#consume();
      return;
    }
    this.#countRecovery();
    const expected = types(type);
    if (this.#skipped(expected)) this.#consume();
    else if (this.#allowed(after).has(this.#type()))
      this.#report(() => `missing ${listed(expected)} at ${this.#shown()}`);
    else {
      this.#report(() => `mismatched input ${this.#shown()} expecting ${listed(expected)}`);
      throw new Unexpected(state);
    }
  }

  #accept(type: string): boolean {
    if (this.#type() !== type) return false;
    this.#match(type, orEnd(nothing));
    return true;
  }

  #expression(follow: Follow): void {
    this.#rule(follow, () => {
      this.#alternatives(orEnd(types("?")));
      if (!this.#accept("?")) return;
      this.#alternatives(then(types(":")));
      this.#match(":", then(expression), "ternary");
      this.#expression(orEnd(nothing));
    });
  }

  #alternatives(follow: Follow): void {
    this.#chain(follow, "||", () =>
      this.#chain(orEnd(types("||")), "&&", () => this.#relation(orEnd(types("&&")), 1)),
    );
  }

  #chain(follow: Follow, sign: string, term: () => void): void {
    this.#rule(follow, () => {
      do term();
      while (this.#accept(sign));
    });
  }

  #relation(follow: Follow, least: number): void {
    this.#rule(follow, () => {
      this.#calculation(orEnd(relations), 1);
      while (least <= 1 && relations.has(this.#type())) {
        this.#accept(this.#type());
        this.#relation(orEnd(relations), 2);
      }
    });
  }

  #calculation(follow: Follow, least: number): void {
    this.#rule(follow, () => {
      this.#unary(afterOperand);
      for (;;) {
        const binding = products.has(this.#type()) ? 2 : sums.has(this.#type()) ? 1 : 0;
        if (binding < least) return;
        this.#accept(this.#type());
        this.#calculation(afterOperand, binding + 1);
      }
    });
  }

  #unary(follow: Follow): void {
    this.#rule(follow, () => {
      this.#sync(expression, "unary");
      const type = this.#type();
      if (type === "!") this.#signed("!");
      else if (type !== "-") this.#member();
      else if (signable.has(this.#type(1))) this.#member();
      else if (operand.has(this.#type(1))) this.#signed("-");
      else this.#noAlternative("unary");
    });
  }

  /** Two tokens that no branch begins with, and the blanks between them. */
  #noAlternative(state: string): never {
    const [first, wrong] = [this.#token(), this.#token(1)];
    const between = this.#source.slice(first.offset + first.text.length, wrong.offset);
    const input = `${first.text}${between.trim() === "" ? between : ""}${wrong.kind === "end" ? "" : wrong.text}`;
    this.#report(() => `no viable alternative at input '${input}'`, wrong);
    throw new Unexpected(state);
  }

  #signed(sign: string): void {
    const expected = sign === "-" ? operand : expression;
    while (this.#accept(sign)) {
      if (this.#recovering || expected.has(this.#type())) continue;
      this.#report(() => `extraneous input ${this.#shown()} expecting ${listed(expected)}`);
      this.#skipUntil(expected);
    }
    this.#member();
  }

  #member(): void {
    const more = orEnd(members);
    this.#rule(orEnd(nothing), () => {
      this.#primary(more);
      for (;;) {
        if (this.#accept(".")) {
          this.#match("IDENTIFIER", afterMember);
          if (this.#accept("(")) this.#arguments(more);
        } else if (this.#accept("[")) {
          this.#expression(then(types("]")));
          this.#match("]", more);
        } else if (this.#accept("{")) this.#entries("IDENTIFIER", more);
        else return;
      }
    });
  }

  #arguments(after: Follow): void {
    this.#sync(argument, "arguments");
    if (expression.has(this.#type()))
      this.#items(then(types(")")), () => this.#expression(orEnd(types(","))));
    this.#match(")", after);
  }

  #items(follow: Follow, item: () => void, first: Types = expression): void {
    this.#rule(follow, () => {
      item();
      while (this.#type() === "," && first.has(this.#type(1))) {
        this.#accept(",");
        item();
      }
    });
  }

  #primary(follow: Follow): void {
    this.#rule(follow, () => {
      const { offset } = this.#token();
      const type = this.#type();
      if (type === "." || type === "IDENTIFIER") {
        this.#accept(".");
        this.#match("IDENTIFIER", orEnd(types("(")));
        if (this.#accept("(")) this.#arguments(orEnd(nothing));
      } else if (this.#accept("(")) {
        this.#expression(then(types(")")));
        this.#match(")", orEnd(nothing));
      } else if (this.#accept("[")) this.#list();
      else if (this.#accept("{")) this.#entries(undefined, orEnd(nothing));
      else if (operand.has(type)) this.#literal();
      else {
        this.errors.push({ offset, message: "invalid primary expression" });
        throw new Unexpected("primary");
      }
    });
  }

  #literal(): void {
    this.#rule(orEnd(nothing), () => {
      if (this.#type() === "-" && !signable.has(this.#type(1))) {
        this.errors.push({ offset: this.#token().offset, message: "invalid literal" });
        this.#noAlternative("literal");
      }
      this.#accept("-");
      this.#accept(this.#type());
    });
  }

  #list(): void {
    this.#sync(listItem, "list");
    if (expression.has(this.#type()))
      this.#items(then(types(", ]")), () => this.#expression(orEnd(types(","))));
    this.#closed("]", orEnd(nothing));
  }

  /** What stands between braces: values by field, or by any expression. */
  #entries(field: string | undefined, after: Follow): void {
    const first = field ? types(field) : expression;
    this.#sync(either(first, types(", }")), "entries");
    const item = (): void => {
      if (field) this.#match(field, then(types(":")));
      else this.#expression(then(types(":")));
      this.#match(":", then(expression));
      this.#expression(orEnd(types(",")));
    };
    if (first.has(this.#type())) this.#items(then(types(", }")), item, first);
    this.#closed("}", after);
  }

  /** The end of a list, before which a comma may stand. */
  #closed(close: string, after: Follow): void {
    this.#sync(types(`, ${close}`), `end ${close}`);
    this.#accept(",");
    this.#match(close, after);
  }
}

function listed(set: Types): string {
  const sorted = [...set].sort((a, b) => numbers.get(a)! - numbers.get(b)!);
  const shown = sorted.map((type) => (/^[A-Z<]{3}/.test(type) ? type : `'${type}'`));
  return shown.length === 1 ? shown[0]! : `{${shown.join(", ")}}`;
}
