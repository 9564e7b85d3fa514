// Yields to the event loop between the steps of a write. Only writes of large objects do: small ones finish
// within one time slice.
import { TimeSlice } from "#base";

/** Writes of objects larger than this may take more than one time slice. */
const largeBytes = 32 * 1024;

export const isLarge = (bytes: number): boolean => bytes > largeBytes;

export class YieldBudget {
  /** Undefined as long as only small objects were accounted. */
  #work: TimeSlice | undefined;

  constructor(bytes: number) {
    this.account(bytes);
  }

  /** Accounts for an object of this size that the write has to process. */
  account(bytes: number): void {
    if (isLarge(bytes)) this.#work ??= new TimeSlice();
  }

  /** Whether a large object was accounted. */
  get isLarge(): boolean {
    return this.#work !== undefined;
  }

  /** Starts a new slice, after an await that let other work run anyway. */
  restart(): void {
    if (this.#work) this.#work = new TimeSlice();
  }

  get expired(): boolean {
    return this.#work?.expired ?? false;
  }

  async yield(): Promise<void> {
    await this.#work?.yield();
  }
}
