// Breaths between the steps of a write, so that others have their turn. Only writes of large objects take them: small ones are over
// before anybody could wait for them.
import { LongWork } from "#base";

/** Objects from here on may take longer than others should wait. */
const largeBytes = 32 * 1024;

export const isLarge = (bytes: number): boolean => bytes > largeBytes;

export class Breaths {
  #large: boolean;
  #work = new LongWork();

  constructor(bytes: number) {
    this.#large = isLarge(bytes);
  }

  /** Something else has to be dealt with, of this size. */
  meet(bytes: number): void {
    this.#large ||= isLarge(bytes);
  }

  /** After waiting for something else: work begins anew. */
  begin(): void {
    if (this.#large) this.#work = new LongWork();
  }

  get due(): boolean {
    return this.#large && this.#work.tired;
  }

  async take(): Promise<void> {
    await this.#work.rest();
  }
}
