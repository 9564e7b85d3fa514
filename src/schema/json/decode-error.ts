// Error for invalid content of a JSON document, with its location.

import type { Shape } from "../shape.ts";

/** A value whose JSON type differs from the declared one. */
export interface Mismatch {
  readonly given: "string" | "bool" | "number" | "array" | "object" | "null";
  /** A number as it was spelled. */
  readonly literal?: string;
  readonly into: Shape;
}

export class DecodeError extends Error {
  override readonly name = "DecodeError";
  /** Location such as `spec.containers[0].name`; empty for the document itself. */
  readonly path: string;
  readonly mismatch?: Mismatch;
  constructor(message: string, path = "", mismatch?: Mismatch) {
    super(message);
    this.path = path;
    if (mismatch) this.mismatch = mismatch;
  }
}
