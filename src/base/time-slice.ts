// Cooperative time slices for long synchronous work. However many pieces are under way, one turn of the event loop
// runs one slice of one of them: of those that somebody waits for, before those in the background.

const sliceMilliseconds = 5;
/** Whoever comes meanwhile waits for at most this long. */
const backgroundMilliseconds = 2;
/** Work in the background gets one of so many turns while others want them all, so that it ends some day. */
const turnsPerBackground = 8;
/** Reading the clock costs more than most ticks do. */
const stepsBetweenLooks = 16;

/** Who the work is for. The signal is asked for at yields only, so making it may cost something. */
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

  /** Whether the slice is used up; for steps that take long themselves. */
  get expired(): boolean {
    const limit = this.#background ? backgroundMilliseconds : sliceMilliseconds;
    return performance.now() - this.#began >= limit;
  }

  /** Counts one of many small steps; whether the slice is used up. */
  tick(): boolean {
    return ++this.#steps % stepsBetweenLooks === 0 && this.expired;
  }

  /** Somebody waits for what was work in the background. */
  promote(): void {
    this.#background = false;
    const at = inBackground.findIndex(({ slice }) => slice === this);
    if (at >= 0) waitedFor.push(...inBackground.splice(at, 1));
  }

  /** Lets others run; throws when nobody waits for the work any longer. */
  async yield(): Promise<void> {
    await new Promise<void>((wake) => {
      if (waitedFor.length + inBackground.length === 0) setImmediate(resumeOne);
      (this.#background ? inBackground : waitedFor).push({ slice: this, wake });
    });
    this.#caller?.signal.throwIfAborted();
    this.#began = performance.now();
  }
}

interface Yielded {
  readonly slice: TimeSlice;
  readonly wake: () => void;
}

const waitedFor: Yielded[] = [];
const inBackground: Yielded[] = [];
let turn = 0;

function resumeOne(): void {
  const backgroundFirst = ++turn % turnsPerBackground === 0;
  const [first, second] = backgroundFirst ? [inBackground, waitedFor] : [waitedFor, inBackground];
  const next = first.shift() ?? second.shift();
  if (waitedFor.length + inBackground.length > 0) setImmediate(resumeOne);
  next?.wake();
}
