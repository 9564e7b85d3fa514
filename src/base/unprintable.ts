// Characters that cannot be printed: none of letters, marks, numbers, punctuation, symbols and the space.
//
// V8 checks an expression that is written as a literal whenever it reads the file or compiles the function around
// it, and categories of Unicode take it milliseconds: this one is made from a text, when it is first needed.

import { own } from "./own.ts";

const printableAscii = /^[\x20-\x7e]*$/;
let pattern: RegExp | undefined;
const unprintable = (): RegExp => (pattern ??= new RegExp(String.raw`[^\p{L}\p{M}\p{N}\p{P}\p{S} ]`, "gu"));

/** Each of them in a text, and its index. */
export const unprintableIn = (text: string): readonly RegExpExecArray[] =>
  printableAscii.test(text) ? [] : [...text.matchAll(unprintable())];

export const withoutUnprintable = (text: string): string =>
  printableAscii.test(text) ? text : text.replace(unprintable(), "");

const shortEscapes: Readonly<Record<string, string>> = {
  "\x07": String.raw`\a`,
  "\b": String.raw`\b`,
  "\t": String.raw`\t`,
  "\n": String.raw`\n`,
  "\v": String.raw`\v`,
  "\f": String.raw`\f`,
  "\r": String.raw`\r`,
};

/** A text in quotes as Go's `%q` writes it: what cannot be printed is escaped, `<` and `é` are not. */
export function goQuoted(text: string): string {
  const quoted = text.replace(/["\\]/g, String.raw`\$&`);
  return printableAscii.test(text) ? `"${quoted}"` : `"${quoted.replace(unprintable(), escaped)}"`;
}

function escaped(character: string): string {
  const short = own(shortEscapes, character);
  if (short !== undefined) return short;
  const code = character.codePointAt(0)!;
  const digits = code.toString(16);
  if (code < 0x80) return String.raw`\x${digits.padStart(2, "0")}`;
  return code < 0x1_0000
    ? String.raw`\u${digits.padStart(4, "0")}`
    : String.raw`\U${digits.padStart(8, "0")}`;
}
