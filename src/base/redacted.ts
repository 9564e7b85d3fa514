// A secret that cannot slip into a log line, a JSON body or an error message by accident.

const shown = "[redacted]";

export class Redacted<T = string> {
  readonly #value: T;
  constructor(value: T) {
    this.#value = value;
  }
  /** The secret itself; call it only where it is used. */
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
