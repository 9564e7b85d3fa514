// What the quick walk carries along, and how its checks answer.

/** Thrown where a value does not fit its declaration: one error for all, for nobody reads it. */
export const irregular = new Error("a value does not fit its declaration");

export interface WalkState {
  /** Whether the tree is ours to correct in place. */
  readonly own: boolean;
  /** Whether somebody's text is read, and not our own object written. */
  readonly reading: boolean;
  /** How much deeper data of no declared type may nest. */
  depthLeft: number;
  /** Object keys met; fewer than the text has when some stood twice. */
  keys: number;
  unknown: boolean;
  /** Lists of numbers were met, whose spelling the count of keys did not look at. */
  numbers: boolean;
  /** Raw objects were met: of those the text matters, not only the value. */
  raw: boolean;
  /** Printing such an object would not give its text back, however the text is spelled otherwise. */
  respelled: boolean;
  /** Raw objects were met whose text is remembered. */
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

/** Returns the canonical value; `undefined` stands for "leave it out". */
export type Check = (value: unknown, state: WalkState) => unknown;
