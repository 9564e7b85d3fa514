// The tokenizer. Each token class has one sticky pattern, so that no text is scanned twice.

import type { Steps } from "#base";
import { type SourceError, reportSyntax } from "./source.ts";

export type TokenKind =
  | "name"
  | "int"
  | "uint"
  | "double"
  | "string"
  | "bytes"
  | "true"
  | "false"
  | "null"
  | "in"
  | "operator"
  | "end";

export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
  readonly offset: number;
}

const blank = /(?:[\t \r\n\f]+|\/\/[^\n]*)+/y;
const word = /[A-Za-z_][A-Za-z0-9_]*/y;
const decimal = /(?:[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?)/y;
const integer = /(?:0x[0-9a-fA-F]+|[0-9]+)[uU]?/y;
const operator = /==|!=|<=|>=|&&|\|\||[-+*/%<>!?:.,(){}[\]]/y;
const escape = String.raw`\\(?:[abfnrtv"'\\?\x60]|[0-3][0-7][0-7]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})`;
const quoted = new RegExp(
  `(?:[bB]?[rR](?:"""[^]*?"""|'''[^]*?'''|"[^"\\n\\r]*"|'[^'\\n\\r]*')|` +
    `[bB]?(?:"""(?:${escape}|[^\\\\])*?"""|'''(?:${escape}|[^\\\\])*?'''|` +
    `"(?:${escape}|[^\\\\"\\n\\r])*"|'(?:${escape}|[^\\\\'\\n\\r])*'))`,
  "y",
);
const keywords: Readonly<Record<string, TokenKind>> = {
  true: "true",
  false: "false",
  null: "null",
  in: "in",
};

const matchAt = (pattern: RegExp, text: string, at: number): string | undefined => {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
};

export interface Tokens {
  /** The last token is of kind `end`. */
  readonly tokens: readonly Token[];
  /** Errors for characters that start no token. */
  readonly errors: SourceError[];
}

/** Number of characters after which tokenizing yields to other work. */
const charactersPerStep = 8192;

export function* tokenize(source: string): Steps<Tokens> {
  const tokens: Token[] = [];
  const errors: SourceError[] = [];
  let at = 0;
  let stepEnds = charactersPerStep;
  while (true) {
    if (at >= stepEnds) {
      yield;
      stepEnds = at + charactersPerStep;
    }
    if (mayBeginBlank(source.charCodeAt(at))) at += matchAt(blank, source, at)?.length ?? 0;
    if (at >= source.length) break;
    const token = tokenAt(source, at);
    if (token) {
      tokens.push(token);
      at += token.text.length;
    } else {
      const wrong = unrecognized(source, at);
      reportSyntax(errors, at, () => `token recognition error at: '${wrong}'`);
      at += wrong.length;
    }
  }
  tokens.push({ kind: "end", text: "<EOF>", offset: source.length });
  return { tokens, errors };
}

const dot = 46;
const slash = 47;
const mayBeginBlank = (code: number): boolean => code <= 32 || code === slash;
const isDigit = (code: number): boolean => code >= 48 && code <= 57;
/**
 * Reports whether the character is a letter, digit or dot. If not, a preceding digit is a complete number.
 */
const mayContinueNumber = (code: number): boolean => code === dot || code >= 48;
/** Reports whether the character is a quote, or one of the letters b and r in either case. */
const mayBeginString = (code: number): boolean =>
  code === 34 || code === 39 || (code | 32) === 98 || (code | 32) === 114;

function tokenAt(source: string, offset: number): Token | undefined {
  const first = source.charCodeAt(offset);
  if (mayBeginString(first)) {
    const text = matchAt(quoted, source, offset);
    if (text !== undefined) return { kind: /^[bB]/.test(text) ? "bytes" : "string", text, offset };
  }
  if (isDigit(first) && !mayContinueNumber(source.charCodeAt(offset + 1)))
    return { kind: "int", text: source[offset]!, offset };
  if (first === dot || isDigit(first)) {
    const real = matchAt(decimal, source, offset);
    const whole = first === dot ? undefined : matchAt(integer, source, offset);
    if (real !== undefined && real.length >= (whole?.length ?? 0))
      return { kind: "double", text: real, offset };
    if (whole !== undefined) return { kind: /[uU]$/.test(whole) ? "uint" : "int", text: whole, offset };
  }
  const name = first === dot ? undefined : matchAt(word, source, offset);
  if (name !== undefined)
    return { kind: Object.hasOwn(keywords, name) ? keywords[name]! : "name", text: name, offset };
  const sign = matchAt(operator, source, offset);
  return sign === undefined ? undefined : { kind: "operator", text: sign, offset };
}

const partOfEscape = String.raw`\\(?:[0-3][0-7]?|[xX][0-9a-fA-F]?|u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7})?`;
/** Matches a token prefix and the character that invalidates it, which is consumed with it. */
const noToken = new RegExp(
  `(?:"(?:${escape}|[^\\\\"\\n\\r])*(?:${partOfEscape})?|'(?:${escape}|[^\\\\'\\n\\r])*(?:${partOfEscape})?|[=&|])[^]?|[^]`,
  "uy",
);

const unrecognized = (source: string, offset: number): string => matchAt(noToken, source, offset)!;

/** Returns the whitespace in a part of the source without tokens, skipping invalid characters. */
export function blanksIn(part: string): string {
  let blanks = "";
  for (let at = 0; at < part.length;) {
    const found = matchAt(blank, part, at);
    blanks += found ?? "";
    at += (found ?? unrecognized(part, at)).length;
  }
  return blanks;
}
