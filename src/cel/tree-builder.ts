// Builds syntax tree nodes from tokens. Errors in literals, names and macro arguments are collected and do
// not end parsing.

import type { Expression, ObjectLiteral } from "./ast.ts";
import type { Token } from "./lexer.ts";
import {
  LiteralError,
  bytesLiteral,
  doubleLiteral,
  intLiteral,
  stringLiteral,
  uintLiteral,
} from "./literals.ts";
import { MacroError, type NodeFactory } from "./macro-loops.ts";
import { type MacroOptions, expandMacro } from "./macros.ts";
import type { SourceError } from "./source.ts";
import type { Value } from "./values.ts";

const reserved = new Set(
  (
    "as break const continue else false for function if import in let loop package namespace null return " +
    "true var void while"
  ).split(" "),
);

type Place = Pick<Token, "offset">;

export class TreeBuilder implements NodeFactory {
  readonly errors: SourceError[] = [];
  readonly #options: MacroOptions;
  #lastId = 0;

  constructor(options: MacroOptions) {
    this.#options = options;
  }

  id = (): number => (this.#lastId += 1);

  /**
   * Returns a placeholder for a node that could not be built, and reports the error if there is a message.
   */
  broken({ offset }: Place, message?: string): Expression {
    if (message !== undefined) this.errors.push({ offset, message, ofToken: true });
    return { kind: "literal", id: this.id(), offset, value: null };
  }

  /** Returns a literal with its sign, or undefined if the token is not a literal. */
  literal(token: Token, sign?: Token): Expression | undefined {
    const { offset } = sign ?? token;
    try {
      const value = valueOf(token.kind, (sign ? "-" : "") + token.text);
      return value === undefined ? undefined : { kind: "literal", id: this.id(), offset, value };
    } catch (error) {
      if (!(error instanceof LiteralError)) throw error;
      return this.broken({ offset }, error.message);
    }
  }

  /** Returns a name, or a call of it if there is an opening parenthesis. */
  global(
    { dot, name, open }: { dot?: Token | undefined; name: Token; open?: Token | undefined },
    args: () => readonly Expression[],
  ): Expression {
    if (reserved.has(name.text)) return this.broken(dot ?? name, `reserved identifier: ${name.text}`);
    const text = (dot ? "." : "") + name.text;
    if (open) return this.call(open, text, args());
    return { kind: "identifier", id: this.id(), offset: name.offset, name: text };
  }

  select({ offset }: Place, operand: Expression, field: string): Expression {
    return { kind: "select", id: this.id(), offset, operand, field, test: false };
  }

  call({ offset }: Place, name: string, args: readonly Expression[], target?: Expression): Expression {
    try {
      const expanded = expandMacro(this, offset, { name, args, ...(target && { target }) }, this.#options);
      if (expanded) return expanded;
    } catch (error) {
      if (!(error instanceof MacroError)) throw error;
      return this.broken({ offset: error.offset ?? offset }, error.message);
    }
    return { kind: "call", id: this.id(), offset, name, args, ...(target && { target }) };
  }

  /** Builds a balanced tree from a chain of `&&` or `||`, so that its depth is logarithmic in its length. */
  chain(name: string, terms: readonly Expression[], signs: readonly Place[]): Expression {
    const balance = (from: number, to: number): Expression => {
      const middle = (from + to + 1) >> 1;
      const left = middle === from ? terms[middle]! : balance(from, middle - 1);
      const right = middle === to ? terms[middle + 1]! : balance(middle + 1, to);
      return this.call(signs[middle]!, name, [left, right]);
    };
    return signs.length === 0 ? terms[0]! : balance(0, signs.length - 1);
  }

  /** Returns a message literal; its entries are skipped if the type is not a name. */
  message(type: Expression, { offset }: Place, entries: () => ObjectLiteral["entries"]): Expression {
    const name = this.#typeName(type);
    if (name === undefined) return this.broken({ offset });
    return { kind: "object", id: this.id(), offset, name, entries: entries() };
  }

  /**
   * Returns the qualified name that an expression represents, with an error for each part that is not a name.
   */
  #typeName(type: Expression): string | undefined {
    if (type.kind === "identifier") return type.name;
    const prefix = type.kind === "select" ? this.#typeName(type.operand) : undefined;
    if (type.kind === "select" && prefix !== undefined) return `${prefix}.${type.field}`;
    this.broken(type, "expected a qualified name");
    return undefined;
  }
}

function valueOf(kind: Token["kind"], text: string): Value | undefined {
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
}
