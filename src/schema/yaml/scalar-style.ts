// Determines the styles in which a string can be printed without being read as another type.

export interface Analysis {
  readonly plain: boolean;
  readonly single: boolean;
  /** Whether a literal block is possible. */
  readonly block: boolean;
}

const leadingIndicator = /^[#,[\]{}&*!|>'"%@`]|^[?:-](?:[\s]|$)|^---|^\.\.\./;
const innerIndicator = /:(?:\s|$)|\s#/;
/**
 * Characters that must be escaped: control characters except line feed, other line breaks, and everything
 * outside the basic multilingual plane.
 */
const special = /[^\n\x20-\x7e\u00a0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]/u;

export function analyze(text: string): Analysis {
  if (text === "") return { plain: true, single: true, block: false };
  const outer = /^[ \n]|[ \n]$/.test(text);
  const breakSpace = text.includes("\n ");
  const unsafe = text.includes(" \n") || special.test(text);
  return {
    plain:
      !outer &&
      !breakSpace &&
      !unsafe &&
      !text.includes("\n") &&
      !leadingIndicator.test(text) &&
      !innerIndicator.test(text),
    single: !breakSpace && !unsafe,
    block: !text.endsWith(" ") && !unsafe,
  };
}

const base60 = /[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?/;
const clock = /\d{1,2}:\d{1,2}:\d{1,2}(?:\.\d+)?/.source;
const date = new RegExp(`\\d{4}-\\d{1,2}-\\d{1,2}(?:[Tt]${clock}(?:Z|[-+]\\d\\d:\\d\\d)| ${clock})?`);
/** Strings to this parser, but dates, base-60 numbers or merge keys to others. */
export const misread = new RegExp(`^(?:${base60.source}|${date.source}|<<)$`);

const named: Readonly<Record<string, string>> = {
  "\0": "\\0", "\x07": "\\a", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\v": "\\v", "\f": "\\f", "\r": "\\r", "\x1b": "\\e", '"': '\\"', "\\": "\\\\", "\x85": "\\N", "\u2028": "\\L", "\u2029": "\\P",
}; // prettier-ignore

const toEscape = new RegExp(`["\\\\\n]|${special.source}`, "gu");

/** Escapes the characters of a double-quoted string. */
export const escaped = (text: string): string =>
  text.replaceAll(toEscape, (character) => {
    const code = character.codePointAt(0)!;
    const known = code > 0x2029 ? undefined : named[character];
    if (known !== undefined) return known;
    const [letter, size] =
      code <= 0xff ? (["x", 2] as const) : code <= 0xffff ? (["u", 4] as const) : (["U", 8] as const);
    return `\\${letter}${code.toString(16).toUpperCase().padStart(size, "0")}`;
  });
