// Breaths between the steps of a write, so that others have their turn. Only writes of large objects take
// them: small ones are over before anybody could wait for them.
import { LongWork } from "#base";

/** Objects from here on may take longer than others should wait. */
const largeBytes = 32 * 1024;

export const isLarge = (bytes: number): boolean => bytes > largeBytes;

export class Breaths {
  /** Undefined while nothing large has been met. */
  #work: LongWork | undefined;

  constructor(bytes: number) {
    this.meet(bytes);
  }

  /** Something has to be dealt with, of this size. */
  meet(bytes: number): void {
    if (isLarge(bytes)) this.#work ??= new LongWork();
  }

  /** After waiting for something else: work begins anew. */
  begin(): void {
    if (this.#work) this.#work = new LongWork();
  }

  get due(): boolean {
    return this.#work?.tired ?? false;
  }

  async take(): Promise<void> {
    await this.#work?.rest();
  }
}
