// State and result types of the fast decoder.

/** Thrown if a value does not match its declaration. A single instance suffices because it is never shown. */
export const irregular = new Error("a value does not match its declaration");

export interface WalkState {
  /** Whether the tree may be modified in place. */
  readonly own: boolean;
  /** Whether external text is being decoded, rather than one of our own objects encoded. */
  readonly reading: boolean;
  /** Remaining nesting depth allowed for untyped data. */
  depthLeft: number;
  /** Number of object keys seen; lower than the count in the text if there are duplicates. */
  keys: number;
  unknown: boolean;
  /** Set when lists of numbers were seen: the key counter does not check the spelling of those. */
  numbers: boolean;
  /** Set when raw objects were seen: their text must be preserved, not only their value. */
  raw: boolean;
  /** Set when printing a raw object would not reproduce its text, regardless of whitespace and escapes. */
  respelled: boolean;
  /** Set when raw objects with a remembered text were seen. */
  remembered: boolean;
}
export const newState = (own: boolean, reading: boolean, maxDepth: number): WalkState => ({
  own,
  reading,
  depthLeft: maxDepth,
  keys: 0,
  unknown: false,
  numbers: false,
  raw: false,
  respelled: false,
  remembered: false,
});

/** Returns the canonical value, or `undefined` to omit it. */
export type Check = (value: unknown, state: WalkState) => unknown;
