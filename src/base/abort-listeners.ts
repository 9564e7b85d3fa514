// The listeners of one AbortSignal that many operations wait for. An AbortSignal scans all its listeners
// whenever one is added or removed; here both take constant time.

export class AbortListeners {
  readonly #listeners = new Set<() => void>();
  readonly #signal: AbortSignal;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener(
      "abort",
      () => {
        for (const listener of this.#listeners) listener();
        this.#listeners.clear();
      },
      { once: true },
    );
  }

  get aborted(): boolean {
    return this.#signal.aborted;
  }

  /**
   * Registers a listener that is called once when the signal is aborted; ignored if the signal is aborted
   * already.
   */
  add(listener: () => void): void {
    if (!this.aborted) this.#listeners.add(listener);
  }

  delete(listener: () => void): void {
    this.#listeners.delete(listener);
  }
}
