// Work that takes long rests every few milliseconds, and all such work takes turns: however much of it is
// under way, one turn of the event loop waits for one slice of one piece.

const sliceMilliseconds = 5;
/** Asking for the time costs more than most steps do. */
const stepsBetweenLooks = 16;

const resting: (() => void)[] = [];

export class LongWork {
  #began = performance.now();
  #steps = 0;

  /** Whether it is time to rest; for steps that take long themselves. */
  get tired(): boolean {
    return performance.now() - this.#began >= sliceMilliseconds;
  }

  /** Counts one of many small steps; whether it is time to rest. */
  step(): boolean {
    return ++this.#steps % stepsBetweenLooks === 0 && this.tired;
  }

  async rest(): Promise<void> {
    await new Promise<void>((resolve) => {
      resting.push(resolve);
      if (resting.length === 1) setImmediate(wakeOne);
    });
    this.#began = performance.now();
  }
}

function wakeOne(): void {
  const wake = resting.shift();
  if (resting.length > 0) setImmediate(wakeOne);
  wake?.();
}
