// Cooperative time slices for long synchronous work. All such work shares one queue: however many pieces are
// under way, one turn of the event loop runs one slice of one of them.

const sliceMilliseconds = 5;
/** Reading the clock costs more than most ticks do. */
const stepsBetweenLooks = 16;

const yielded: (() => void)[] = [];

/** Who the work is for. The signal is asked for at yields only, so making it may cost something. */
export interface Caller {
  readonly signal: AbortSignal;
}

export class TimeSlice {
  readonly #caller: Caller | undefined;
  #began = performance.now();
  #steps = 0;

  constructor(caller?: Caller) {
    this.#caller = caller;
  }

  /** Whether the slice is used up; for steps that take long themselves. */
  get expired(): boolean {
    return performance.now() - this.#began >= sliceMilliseconds;
  }

  /** Counts one of many small steps; whether the slice is used up. */
  tick(): boolean {
    return ++this.#steps % stepsBetweenLooks === 0 && this.expired;
  }

  /** Lets others run; throws when nobody waits for the work any longer. */
  async yield(): Promise<void> {
    await new Promise<void>((resolve) => {
      yielded.push(resolve);
      if (yielded.length === 1) setImmediate(resumeOne);
    });
    this.#caller?.signal.throwIfAborted();
    this.#began = performance.now();
  }
}

function resumeOne(): void {
  const wake = yielded.shift();
  if (yielded.length > 0) setImmediate(resumeOne);
  wake?.();
}
