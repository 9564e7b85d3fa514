// Text of others made safe to look at: what would be invisible or would reorder its surroundings is shown as
// what it is. Nothing of it is ever taken for markup; that is up to Preact, which makes text nodes.

/** Directional controls, zero-width characters and the like: they change how other text reads. */
const deceptive =
  /[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\u061c\u00ad\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;
// oxlint-disable-next-line no-control-regex -- these are what is replaced
const control = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

const codeOf = (character: string): string =>
  `‹U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}›`;
/** The picture of a control character, such as ␛. */
const pictureOf = (character: string): string => {
  const code = character.charCodeAt(0);
  return code < 0x20 ? String.fromCharCode(0x2400 + code) : code === 0x7f ? "␡" : codeOf(character);
};

/** The text with every invisible or reordering character shown; lines and tabs stay. */
export const visible = (text: string): string => text.replace(control, pictureOf).replace(deceptive, codeOf);

/** The same on one line. */
export const visibleLine = (text: string): string => visible(text).replaceAll(/\s*\n\s*/g, " ⏎ ");

export interface Cut {
  readonly text: string;
  /** Characters that were left away. */
  readonly more: number;
}

/** At most so many characters; never half of a pair. */
export function cut(text: string, most: number): Cut {
  if (text.length <= most) return { text, more: 0 };
  const end = isHighSurrogate(text.charCodeAt(most - 1)) ? most - 1 : most;
  return { text: text.slice(0, end), more: text.length - end };
}

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;
