// What is wrong with the content of a JSON document, and where.

import type { Shape } from "../shape.ts";

/** A value of one JSON type where the declaration has another. */
export interface Mismatch {
  readonly given: "string" | "bool" | "number" | "array" | "object" | "null";
  /** A number as it was written. */
  readonly literal?: string;
  readonly into: Shape;
}

export class DecodeError extends Error {
  override readonly name = "DecodeError";
  /** Such as `spec.containers[0].name`; empty for the document itself. */
  readonly path: string;
  readonly mismatch?: Mismatch;
  constructor(message: string, path = "", mismatch?: Mismatch) {
    super(message);
    this.path = path;
    if (mismatch) this.mismatch = mismatch;
  }
}
