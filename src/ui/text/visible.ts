// Makes text from users safe to display: characters that would be invisible or reorder their surroundings are
// shown as code points. Text is never interpreted as markup: Preact only creates text nodes from it.

/** Directional controls, zero-width characters and similar ones, which change how other text is displayed. */
const deceptive =
  /[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\u061c\u00ad\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;
// oxlint-disable-next-line no-control-regex -- these are what is replaced
const control = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

const codeOf = (character: string): string =>
  `‹U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}›`;
/** Returns the symbol of a control character, such as ␛. */
const pictureOf = (character: string): string => {
  const code = character.charCodeAt(0);
  return code < 0x20 ? String.fromCharCode(0x2400 + code) : code === 0x7f ? "␡" : codeOf(character);
};

/** Returns the text with every invisible or reordering character made visible; line breaks and tabs stay. */
export const visible = (text: string): string => text.replace(control, pictureOf).replace(deceptive, codeOf);

/** Like visible, on one line. */
export const visibleLine = (text: string): string => visible(text).replaceAll(/\s*\n\s*/g, " ⏎ ");

export interface Cut {
  readonly text: string;
  /** The number of omitted characters. */
  readonly more: number;
}

/** Truncates a text to `most` characters without splitting a surrogate pair. */
export function cut(text: string, most: number): Cut {
  if (text.length <= most) return { text, more: 0 };
  const end = isHighSurrogate(text.charCodeAt(most - 1)) ? most - 1 : most;
  return { text: text.slice(0, end), more: text.length - end };
}

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;
