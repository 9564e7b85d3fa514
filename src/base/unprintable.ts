// Unprintable characters: everything but letters, marks, numbers, punctuation, symbols and the space.
//
// V8 validates a regular expression literal whenever it parses the file or compiles the enclosing function,
// which takes milliseconds for Unicode categories: this one is built from a string on first use.

import { own } from "./own.ts";

const printableAscii = /^[\x20-\x7e]*$/;
let pattern: RegExp | undefined;
const unprintable = (): RegExp => (pattern ??= new RegExp(String.raw`[^\p{L}\p{M}\p{N}\p{P}\p{S} ]`, "gu"));

/** Returns the matches of all unprintable characters in a text, with their index. */
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

/** Quotes a text as Go's `%q`: unprintable characters are escaped, `<` and `é` are not. */
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
