// Finds all syntax errors of an invalid expression. The tokens are parsed rule by rule as in the reference's
// parser, which recovers from errors. The resulting tree, even if partial, is then visited as usual, so that
// invalid literals and macro arguments are reported, too.

import type { Expression, ListLiteral, MapLiteral, ObjectLiteral } from "./ast.ts";
import type { Token } from "./lexer.ts";
import type { MacroOptions } from "./macros.ts";
import { maxNesting, operatorName, rulesPerNesting } from "./grammar.ts";
import type { SourceError } from "./source.ts";
import {
  type Follow,
  LimitReached,
  TokenRecovery,
  type Types,
  either,
  end,
  nothing,
  orEnd,
  followedBy,
  types,
} from "./token-recovery.ts";
import { TreeBuilder } from "./tree-builder.ts";

const operand = types("[ { ( . - true false null NUM_FLOAT NUM_INT NUM_UINT STRING BYTES IDENTIFIER");
const expression = either(operand, types("!"));
const relations = types("== != in < <= >= >");
const products = types("* / %");
const sums = types("+ -");
const members = types(". [ {");
/** Tokens that a minus sign can be part of. */
const signable = types("NUM_INT NUM_FLOAT");
const afterOperand = orEnd(either(products, sums));
const afterMember = orEnd(either(types("("), members));
const argument = either(expression, types(")"));
const listItem = either(expression, types(", ]"));

/** Builds the nodes of a parsed rule. Parts that the rule did not reach because of an error are missing. */
type Visit = () => Expression;

export function brokenSyntax(
  source: string,
  tokens: readonly Token[],
  options: MacroOptions,
): readonly SourceError[] {
  const walk = new Walk(new TokenRecovery(source, tokens), new TreeBuilder(options));
  return walk.errors();
}

class Walk {
  readonly #input: TokenRecovery;
  readonly #build: TreeBuilder;
  #depth = 1;

  constructor(input: TokenRecovery, build: TreeBuilder) {
    this.#input = input;
    this.#build = build;
  }

  errors(): readonly SourceError[] {
    try {
      this.#visit(this.#start(), rulesPerNesting);
    } catch (error) {
      if (!(error instanceof LimitReached)) throw error;
    }
    return [...this.#input.errors, ...this.#build.errors];
  }

  /** Visits a part nested by a number of rules. */
  #visit(part: Visit, rules = 1): Expression {
    this.#depth += rules;
    if (this.#depth > maxNesting) {
      this.#build.broken({ offset: -1 }, "max recursion depth exceeded");
      throw new LimitReached();
    }
    const made = part();
    this.#depth -= rules;
    return made;
  }

  #start(): Visit {
    let whole = this.#nothing;
    this.#input.rule("start", orEnd(nothing), () => {
      whole = this.#expression(followedBy(types(end)));
      this.#input.match(end, orEnd(nothing), "end");
    });
    return whole;
  }

  /** Stands for a part that was never reached. */
  readonly #nothing: Visit = () => this.#build.broken({ offset: -1 });

  #expression(follow: Follow): Visit {
    let [condition, whenTrue, whenFalse] = [this.#nothing, this.#nothing, this.#nothing];
    let mark: Token | undefined;
    this.#input.rule("expression", follow, () => {
      condition = this.#alternatives(orEnd(types("?")));
      mark = this.#input.accept("?");
      if (!mark) return;
      whenTrue = this.#alternatives(followedBy(types(":")));
      this.#input.match(":", followedBy(expression), "ternary");
      whenFalse = this.#expression(orEnd(nothing));
    });
    return () => {
      const first = condition();
      if (!mark) return first;
      return this.#build.call(mark, "_?_:_", [first, whenTrue(), this.#visit(whenFalse, rulesPerNesting)]);
    };
  }

  #alternatives(follow: Follow): Visit {
    return this.#chain(follow, "||", () =>
      this.#chain(orEnd(types("||")), "&&", () => this.#relation(orEnd(types("&&")), 1)),
    );
  }

  #chain(follow: Follow, sign: string, term: () => Visit): Visit {
    const terms: Visit[] = [];
    const signs: Token[] = [];
    this.#input.rule(sign, follow, () => {
      terms.push(term());
      for (let next = this.#input.accept(sign); next; next = this.#input.accept(sign)) {
        signs.push(next);
        terms.push(term());
      }
    });
    return () =>
      this.#build.chain(
        operatorName(sign),
        terms.map((visit) => visit()),
        signs,
      );
  }

  #relation(follow: Follow, least: number): Visit {
    let left = this.#nothing;
    this.#input.rule("relation", follow, () => {
      left = this.#calculation(orEnd(relations), 1);
      while (least <= 1 && relations.has(this.#input.type())) {
        const sign = this.#input.accept(this.#input.type())!;
        left = this.#binary(left, sign, this.#relation(orEnd(relations), 2));
      }
    });
    return left;
  }

  #calculation(follow: Follow, least: number): Visit {
    let left = this.#nothing;
    this.#input.rule("calculation", follow, () => {
      left = this.#unary(afterOperand);
      for (;;) {
        const type = this.#input.type();
        const binding = products.has(type) ? 2 : sums.has(type) ? 1 : 0;
        if (binding < least) return;
        const sign = this.#input.accept(type)!;
        left = this.#binary(left, sign, this.#calculation(afterOperand, binding + 1));
      }
    });
    return left;
  }

  #binary(left: Visit, sign: Token, right: Visit): Visit {
    return () => this.#build.call(sign, operatorName(sign.text), [this.#visit(left), this.#visit(right)]);
  }

  #unary(follow: Follow): Visit {
    const start = this.#input.token();
    let made: Visit = () => this.#build.broken(start);
    this.#input.rule("unary", follow, () => {
      this.#input.sync(expression, "unary");
      const type = this.#input.type();
      if (type !== "!" && (type !== "-" || signable.has(this.#input.type(1)))) made = this.#member();
      else {
        if (type === "-" && !operand.has(this.#input.type(1))) this.#input.noAlternative("unary");
        const signs: Token[] = [];
        let member = this.#nothing;
        made = () => this.#signed(signs, this.#visit(member));
        this.#signs(type, signs);
        member = this.#member();
      }
    });
    return made;
  }

  #signs(sign: string, signs: Token[]): void {
    const expected = sign === "-" ? operand : expression;
    while (this.#input.type() === sign) {
      if (sign === "-" && !operand.has(this.#input.type(1))) this.#input.noAlternative("minus");
      signs.push(this.#input.accept(sign)!);
      this.#input.syncLoop(expected);
    }
  }

  /** Pairs of signs cancel out. */
  #signed(signs: readonly Token[], member: Expression): Expression {
    const [first] = signs;
    if (!first || signs.length % 2 === 0) return member;
    return this.#build.call(first, first.text === "!" ? "!_" : "-_", [member]);
  }

  /** A part is visited as far as it was parsed; what follows an unexpected token stays empty. */
  #member(): Visit {
    const more = orEnd(members);
    const start = this.#input.token();
    let made = this.#nothing;
    this.#input.rule("member", orEnd(nothing), () => {
      made = this.#primary(more);
      for (;;) {
        const sign = this.#input.token();
        const target = made;
        if (this.#input.accept(".")) {
          const call: Named = { args: [] };
          made = () => this.#selection(sign, this.#visit(target), call) ?? this.#build.broken(start);
          this.#named(call, "member", afterMember, more);
        } else if (this.#input.accept("[")) {
          const index: Visit[] = [];
          made = () => this.#build.call(sign, "_[_]", [this.#visit(target), ...this.#visitAll(index)]);
          index.push(this.#expression(followedBy(types("]"))));
          this.#input.match("]", more, "index end");
        } else if (this.#input.accept("{")) {
          const entries = noEntries();
          made = () => this.#build.message(this.#visit(target), sign, () => this.#fields(entries));
          this.#entries(entries, "IDENTIFIER", more);
        } else return;
      }
    });
    return made;
  }

  #named(call: Named, rule: string, afterName: Follow, after: Follow): void {
    call.name = this.#input.match("IDENTIFIER", afterName, `${rule} name`);
    call.open = this.#input.accept("(");
    if (!call.open) return;
    this.#input.sync(argument, `${rule} arguments`);
    if (expression.has(this.#input.type()))
      this.#items(followedBy(types(")")), () => call.args.push(this.#expression(orEnd(types(",")))));
    this.#input.match(")", after, `${rule} end`);
  }

  #selection(dot: Token, target: Expression, { name, open, args }: Named): Expression | undefined {
    if (!name) return undefined;
    if (!open) return this.#build.select(dot, target, name.text);
    return this.#build.call(open, name.text, this.#visitAll(args), target);
  }

  #visitAll(parts: readonly Visit[]): readonly Expression[] {
    return parts.map((part) => this.#visit(part, rulesPerNesting));
  }

  #items(follow: Follow, item: () => void, first: Types = expression): void {
    this.#input.rule("items", follow, () => {
      item();
      while (this.#input.type() === "," && first.has(this.#input.type(1))) {
        this.#input.accept(",");
        item();
      }
    });
  }

  #primary(follow: Follow): Visit {
    const start = this.#input.token();
    let made: Visit = () => this.#build.broken(start, "invalid primary expression");
    this.#input.rule("primary", follow, () => {
      const type = this.#input.type();
      if (type === "." || type === "IDENTIFIER") {
        const dot = this.#input.accept(".");
        const call: Named = { args: [] };
        made = () => {
          const { name, open, args } = call;
          if (!name) return this.#build.broken(start);
          return this.#build.global({ dot, name, open }, () => this.#visitAll(args));
        };
        this.#named(call, "global", orEnd(types("(")), orEnd(nothing));
      } else if (this.#input.accept("(")) {
        const nested = this.#expression(followedBy(types(")")));
        made = () => this.#visit(nested, rulesPerNesting);
        this.#input.match(")", orEnd(nothing), "nested end");
      } else if (this.#input.accept("[")) {
        const elements: Visit[] = [];
        made = () => this.#list(start, this.#visitAll(elements));
        this.#input.sync(listItem, "list");
        if (expression.has(this.#input.type()))
          this.#items(followedBy(types(", ]")), () => elements.push(this.#expression(orEnd(types(",")))));
        this.#closed("]", orEnd(nothing), "list");
      } else if (this.#input.accept("{")) {
        const entries = noEntries();
        made = () => this.#map(start, entries);
        this.#entries(entries, undefined, orEnd(nothing));
      } else if (operand.has(type)) made = this.#literal();
      else this.#input.leave("primary");
    });
    return made;
  }

  #literal(): Visit {
    const start = this.#input.token();
    let made: Visit = () => this.#build.broken(start, "invalid literal");
    this.#input.rule("literal", orEnd(nothing), () => {
      if (this.#input.type() === "-" && !signable.has(this.#input.type(1)))
        this.#input.noAlternative("literal");
      const sign = this.#input.accept("-");
      const token = this.#input.accept(this.#input.type())!;
      made = () => this.#build.literal(token, sign)!;
    });
    return made;
  }

  #list({ offset }: Token, elements: readonly Expression[]): ListLiteral {
    return { kind: "list", id: this.#build.id(), offset, elements };
  }

  #map({ offset }: Token, { colons, keys, values }: Entries): MapLiteral {
    const entries = colons.flatMap((_, at) => {
      const [key, value] = [keys[at], values[at]];
      if (!key || !value) return [];
      return [{ key: this.#visit(key, rulesPerNesting), value: this.#visit(value, rulesPerNesting) }];
    });
    return { kind: "map", id: this.#build.id(), offset, entries };
  }

  #fields({ names, colons, values }: Entries): ObjectLiteral["entries"] {
    return names.flatMap(({ text: field }, at) => {
      const [colon, value] = [colons[at], values[at]];
      if (!colon || !value) return [];
      return [{ field, value: this.#visit(value, rulesPerNesting), offset: colon.offset }];
    });
  }

  /** Parses the entries in braces: values by field, or by an arbitrary key expression. */
  #entries({ names, keys, colons, values }: Entries, field: string | undefined, after: Follow): void {
    const first = field ? types(field) : expression;
    const rule = field ? "message" : "map";
    this.#input.sync(either(first, types(", }")), `${rule} entries`);
    const item = (): void => {
      const state = `${rule} ${colons.length === 0 ? "entry" : "next entry"}`;
      if (field) names.push(this.#input.match(field, followedBy(types(":")), `${state} name`));
      else keys.push(this.#expression(followedBy(types(":"))));
      colons.push(this.#input.match(":", followedBy(expression), state));
      values.push(this.#expression(orEnd(types(","))));
    };
    if (first.has(this.#input.type())) this.#items(followedBy(types(", }")), item, first);
    this.#closed("}", after, rule);
  }

  /** Parses the end of a list, optionally preceded by a comma. */
  #closed(close: string, after: Follow, rule: string): void {
    this.#input.sync(types(`, ${close}`), `${rule} comma`);
    this.#input.accept(",");
    this.#input.match(close, after, `${rule} end`);
  }
}

/** A name, and its arguments if it is called. */
interface Named {
  name?: Token;
  open?: Token | undefined;
  readonly args: Visit[];
}

/** The entries of a message (by name) or of a map (by key). */
interface Entries {
  readonly names: Token[];
  readonly keys: Visit[];
  readonly colons: Token[];
  readonly values: Visit[];
}
const noEntries = (): Entries => ({ names: [], keys: [], colons: [], values: [] });
