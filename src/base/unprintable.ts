// Characters that cannot be printed: none of letters, marks, numbers, punctuation, symbols and the space.
//
// V8 checks an expression that is written as a literal whenever it reads the file or compiles the function around
// it, and categories of Unicode take it milliseconds: this one is made from a text, when it is first needed.

const printableAscii = /^[\x20-\x7e]*$/;
let pattern: RegExp | undefined;
const unprintable = (): RegExp => (pattern ??= new RegExp(String.raw`[^\p{L}\p{M}\p{N}\p{P}\p{S} ]`, "gu"));

/** Each of them in a text, and its index. */
export const unprintableIn = (text: string): readonly RegExpExecArray[] =>
  printableAscii.test(text) ? [] : [...text.matchAll(unprintable())];

export const withoutUnprintable = (text: string): string =>
  printableAscii.test(text) ? text : text.replace(unprintable(), "");
