// Runs checks in parallel: at most `limit` at a time, and none twice at the same time.

export class ParallelChecks {
  readonly #limit: number;
  readonly #onEnd: () => void;
  readonly #active = new Map<string, Promise<void>>();

  /** `onEnd` is called after every check, when another one may be started. */
  constructor(limit: number, onEnd: () => void) {
    this.#limit = limit;
    this.#onEnd = onEnd;
  }

  has(name: string): boolean {
    return this.#active.has(name);
  }

  /**
   * Starts a check, which must handle its errors. Does nothing if it is in progress, or as many checks as the
   * limit allows.
   */
  start(name: string, check: () => Promise<void>): void {
    if (this.#active.has(name) || this.#active.size >= this.#limit) return;
    const ended = check().finally(() => {
      this.#active.delete(name);
      this.#onEnd();
    });
    this.#active.set(name, ended);
  }

  /** Resolves when the checks in progress have ended. */
  async ended(): Promise<void> {
    await Promise.all(this.#active.values());
  }
}
