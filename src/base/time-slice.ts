// Cooperative time slices for long synchronous work. One turn of the event loop runs one slice of one task,
// no matter how many are active; tasks with a waiting caller run before background tasks.

const sliceMilliseconds = 5;
/** Bounds the delay of work that arrives during a background slice. */
const backgroundMilliseconds = 2;
/**
 * One of this many turns is reserved for background work if both kinds are pending, so that it is not
 * starved.
 */
const turnsPerBackground = 8;
/** Reading the clock costs more than most ticks do. */
const ticksPerClockRead = 16;

/**
 * The request or client the work is done for. The signal is read only at yields, so its getter may be costly.
 */
export interface Caller {
  readonly signal: AbortSignal;
}

export class TimeSlice {
  readonly #caller: Caller | undefined;
  #background: boolean;
  #began = performance.now();
  #steps = 0;

  constructor(caller?: Caller | "background") {
    this.#background = caller === "background";
    this.#caller = caller === "background" ? undefined : caller;
  }

  /** Reports whether the slice is used up; for steps that are long themselves. */
  get expired(): boolean {
    const limit = this.#background ? backgroundMilliseconds : sliceMilliseconds;
    return performance.now() - this.#began >= limit;
  }

  /** Counts one of many small steps; reports whether the slice is used up. */
  tick(): boolean {
    return ++this.#steps % ticksPerClockRead === 0 && this.expired;
  }

  /** Turns background work into work that a caller waits for. */
  promote(): void {
    this.#background = false;
    const at = background.findIndex(({ slice }) => slice === this);
    if (at >= 0) foreground.push(...background.splice(at, 1));
  }

  /** Yields to other work; throws if the caller's signal is aborted. */
  async yield(): Promise<void> {
    await new Promise<void>((wake) => {
      if (foreground.length + background.length === 0) setImmediate(resumeOne);
      (this.#background ? background : foreground).push({ slice: this, wake });
    });
    this.#caller?.signal.throwIfAborted();
    this.#began = performance.now();
  }
}

interface Yielded {
  readonly slice: TimeSlice;
  readonly wake: () => void;
}

const foreground: Yielded[] = [];
const background: Yielded[] = [];
let turn = 0;

function resumeOne(): void {
  const backgroundFirst = ++turn % turnsPerBackground === 0;
  const [first, second] = backgroundFirst ? [background, foreground] : [foreground, background];
  const next = first.shift() ?? second.shift();
  if (foreground.length + background.length > 0) setImmediate(resumeOne);
  next?.wake();
}
