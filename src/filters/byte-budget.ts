// A limit on the number of bytes in use at a time, granted in order of request.
import type { Clock } from "#base";

/** All agents of a large cluster may send requests at once. */
const maxWaiting = 8192;

export class ByteBudget {
  readonly #limit: number;
  #used = 0;
  readonly #waiting: { readonly bytes: number; readonly settle: (got: boolean) => void }[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  get used(): number {
    return this.#used;
  }

  /** Reports whether requests wait for bytes held by others. */
  get hasWaiters(): boolean {
    return this.#waiting.length > 0;
  }

  /**
   * Acquires bytes, waiting if necessary. Resolves with false if too many are waiting, the wait takes too
   * long or the request is aborted. A request larger than the limit is granted if nothing else is in use.
   */
  acquire(bytes: number, clock: Clock, waitMilliseconds: number, signal: AbortSignal): Promise<boolean> {
    if (this.tryAcquire(bytes)) return Promise.resolve(true);
    if (this.#waiting.length >= maxWaiting || signal.aborted) return Promise.resolve(false);
    return new Promise((resolve) => {
      const waiter = {
        bytes,
        settle: (got: boolean): void => {
          cancel();
          signal.removeEventListener("abort", leave);
          resolve(got);
        },
      };
      const leave = (): void => {
        const at = this.#waiting.indexOf(waiter);
        if (at < 0) return;
        this.#waiting.splice(at, 1);
        waiter.settle(false);
        this.#serve();
      };
      const cancel = clock.after(waitMilliseconds, leave);
      signal.addEventListener("abort", leave, { once: true });
      this.#waiting.push(waiter);
    });
  }

  release(bytes: number): void {
    this.adjust(-bytes);
  }

  /** Corrects the size of an acquisition by `bytes`. */
  adjust(bytes: number): void {
    this.#used += bytes;
    if (bytes < 0) this.#serve();
  }

  /** Acquires bytes without waiting; reports whether it succeeded. */
  tryAcquire(bytes: number): boolean {
    if (this.#waiting.length > 0 || !this.#isAvailable(bytes)) return false;
    this.#used += bytes;
    return true;
  }

  #isAvailable(bytes: number): boolean {
    return this.#used === 0 || this.#used + bytes <= this.#limit;
  }

  #serve(): void {
    for (let first = this.#waiting[0]; first && this.#isAvailable(first.bytes); first = this.#waiting[0]) {
      this.#waiting.shift();
      this.#used += first.bytes;
      first.settle(true);
    }
  }
}
