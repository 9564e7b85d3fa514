// Values of literal tokens: numbers checked for range, strings and bytes with escapes resolved.

import { Double, type Uint, type Value, intOf, uintOf } from "./values.ts";

export class LiteralError extends Error {
  override readonly name = "LiteralError";
}

export function intLiteral(text: string): Value {
  const value = text.startsWith("-") ? -BigInt(text.slice(1)) : BigInt(text);
  if (value < -(1n << 63n) || value >= 1n << 63n) throw new LiteralError("invalid int literal");
  return intOf(value);
}

export function uintLiteral(text: string): Uint {
  const value = BigInt(text.slice(0, -1));
  if (value >= 1n << 64n) throw new LiteralError("invalid uint literal");
  return uintOf(value);
}

export function doubleLiteral(text: string): Double {
  const value = Number(text);
  if (!Number.isFinite(value)) throw new LiteralError("invalid double literal");
  return new Double(value);
}

const simpleEscapes: Readonly<Record<string, string>> = {
  a: "\u0007",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};

/** Returns the text between the quotes, with escapes unresolved. */
function bodyOf(token: string): { readonly body: string; readonly raw: boolean } {
  const raw = /^[rR]/.test(token);
  const text = (raw ? token.slice(1) : token).replaceAll(/\r\n?/g, "\n");
  const quotes = /^("""|'''|"|')/.exec(text)![0].length;
  return { body: text.slice(quotes, text.length - quotes), raw };
}

export function stringLiteral(token: string): string {
  const { body, raw } = bodyOf(token);
  if (raw || !body.includes("\\")) return body;
  return body.replaceAll(escapes, (found) => {
    const code = numericEscape(found);
    if (code === undefined) return simpleEscapes[found[1]!] ?? found[1]!;
    if (code > 0x10ffff) throw new LiteralError("unable to unescape string");
    return code >= 0xd800 && code <= 0xdfff ? "\ufffd" : String.fromCodePoint(code);
  });
}

const escapes = /\\(?:[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2}|[^])/g;

function numericEscape(found: string): number | undefined {
  const kind = found[1]!;
  if (/[xXuU]/.test(kind)) return Number.parseInt(found.slice(2), 16);
  return /[0-3]/.test(kind) ? Number.parseInt(found.slice(1), 8) : undefined;
}

/** In bytes literals, octal and hexadecimal escapes are bytes, and Unicode escapes are not allowed. */
export function bytesLiteral(token: string): Uint8Array {
  const { body, raw } = bodyOf(token.slice(1));
  if (raw || !body.includes("\\")) return Buffer.from(body);
  const parts: Buffer[] = [];
  let last = 0;
  for (const found of body.matchAll(escapes)) {
    parts.push(Buffer.from(body.slice(last, found.index)));
    last = found.index + found[0].length;
    if (/^\\[uU]/.test(found[0])) throw new LiteralError("unable to unescape string");
    const code = numericEscape(found[0]);
    parts.push(
      code === undefined ? Buffer.from(simpleEscapes[found[0][1]!] ?? found[0][1]!) : Buffer.from([code]),
    );
  }
  parts.push(Buffer.from(body.slice(last)));
  return Buffer.concat(parts);
}
