// What is wrong with the content of a JSON document, and where.

export class DecodeError extends Error {
  override readonly name = "DecodeError";
  /** Such as `spec.containers[0].name`; empty for the document itself. */
  readonly path: string;
  constructor(message: string, path = "") {
    super(message);
    this.path = path;
  }
}
