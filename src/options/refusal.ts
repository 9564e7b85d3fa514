// A value that is not allowed, and what would be.

export class Refusal extends Error {
  override readonly name = "Refusal";
  /** Where inside the value, such as `[0].effect`; empty for the value itself. */
  readonly at: string;
  constructor(message: string, at = "") {
    super(message);
    this.at = at;
  }
}

/** A field that nobody knows: told like the rest, but the value around it can be used without it. */
export class UnknownField extends Refusal {}

/** Runs `read` on a part of a value; a refusal tells where that part is. */
export function within<T>(at: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof UnknownField) throw new UnknownField(error.message, `${at}${error.at}`);
    if (error instanceof Refusal) throw new Refusal(error.message, `${at}${error.at}`);
    throw error;
  }
}
