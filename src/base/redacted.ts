// Wraps a secret so that it cannot end up in a log line, a JSON body or an error message by accident.

const shown = "[redacted]";

export class Redacted<T = string> {
  readonly #value: T;
  constructor(value: T) {
    this.#value = value;
  }
  /** Returns the secret; call it only where the value is used. */
  reveal(): T {
    return this.#value;
  }
  toString(): string {
    return shown;
  }
  toJSON(): string {
    return shown;
  }
  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return shown;
  }
}

export const redacted = <T>(value: T): Redacted<T> => new Redacted(value);
