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

/** A flag's text that is no value of its type: told in the words in which the original parses it. */
export class Unparsable extends Refusal {
  /** `strconv.ParseInt: parsing "x": invalid syntax`. */
  static of(parser: string, given: string, why: "invalid syntax" | "value out of range"): Unparsable {
    return new Unparsable(`strconv.${parser}: parsing ${JSON.stringify(given)}: ${why}`);
  }
}

/** A field that nobody knows: told like the rest, but the value around it can be used without it. */
export class UnknownField extends Refusal {}

/** Runs `read` on a part of a value; a refusal tells where that part is. */
export function within<T>(at: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof Unparsable) throw new Unparsable(error.message, `${at}${error.at}`);
    if (error instanceof UnknownField) throw new UnknownField(error.message, `${at}${error.at}`);
    if (error instanceof Refusal) throw new Refusal(error.message, `${at}${error.at}`);
    throw error;
  }
}
