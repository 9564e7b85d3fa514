// The parts of a server that have been opened so far: closed in reverse order when it stops, or when a later part
// cannot be opened.

type Close = () => unknown;

export class Opened {
  readonly #closing = new AbortController();
  readonly #parts: Close[] = [];

  /** Aborted before the first part is closed. */
  get signal(): AbortSignal {
    return this.#closing.signal;
  }

  add(...parts: readonly Close[]): void {
    this.#parts.push(...parts);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    for (const close of this.#parts.splice(0).toReversed()) await close();
  }
}
