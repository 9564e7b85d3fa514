// Errors for invalid values, which say what is allowed.

export class Refusal extends Error {
  override readonly name = "Refusal";
  /** The place within the value, such as `[0].effect`; empty for the value itself. */
  readonly at: string;
  constructor(message: string, at = "") {
    super(message);
    this.at = at;
  }
}

/** A flag's value cannot be parsed as its type; the message is that of the upstream parser. */
export class Unparsable extends Refusal {
  /** `strconv.ParseInt: parsing "x": invalid syntax`. */
  static of(parser: string, given: string, why: "invalid syntax" | "value out of range"): Unparsable {
    return new Unparsable(`strconv.${parser}: parsing ${JSON.stringify(given)}: ${why}`);
  }
}

/** An unknown field: reported like other errors, but the rest of the value is usable. */
export class UnknownField extends Refusal {}

/** Runs `read` on a part of a value and prefixes the place of any error with `at`. */
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
