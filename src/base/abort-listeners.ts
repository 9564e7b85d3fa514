// Very many who wait for one signal. An AbortSignal looks through all its listeners whenever one comes or goes; here
// that costs the same however many there are.

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

  /** Called once when the signal is aborted; never where it has been already. */
  add(listener: () => void): void {
    if (!this.aborted) this.#listeners.add(listener);
  }

  delete(listener: () => void): void {
    this.#listeners.delete(listener);
  }
}
