// Limits how many requests one turn of the event loop starts, so that a burst does not delay timers and other
// connections. In a crowd health checks and writes, which heartbeats are, go before reads: all agents listing their
// pods again at once must not make their nodes look dead.

/** A turn of the event loop begins so many pieces of work, fewer where turns take long… */
const mostPerTurn = 64;
const fewestPerTurn = 8;
/**
 * …and whether a turn is over is asked for only once so many have begun: few at a time are never in anybody's
 * way.
 */
const crowd = 16;
const longTurnMilliseconds = 40;
/** Of every so many that begin one is a read, however many writes there are. */
const readShare = 4;

export class AdmissionThrottle {
  private readonly now: () => number;
  private begun = 0;
  private perTurn = mostPerTurn;
  private turnBegan: number | undefined;
  private readonly urgent: Queue = { works: [], at: 0 };
  private readonly reads: Queue = { works: [], at: 0 };

  constructor(now: () => number = () => performance.now()) {
    this.now = now;
  }

  /** Begins the work now, or in one of the next turns. Whoever calls this bounds how much may wait. */
  begin(work: () => void, method: string, path: string): void {
    const begins = ++this.begun <= this.perTurn;
    if (this.turnBegan === undefined && (!begins || this.begun >= crowd)) this.endTurnLater();
    if (begins) work();
    else (isUrgent(method, path) ? this.urgent : this.reads).works.push(work);
  }

  private endTurnLater(): void {
    this.turnBegan = this.now();
    setImmediate(() => this.next(this.now() - this.turnBegan!));
  }

  private next(tookMilliseconds: number): void {
    const isLong = tookMilliseconds > longTurnMilliseconds;
    this.perTurn = isLong
      ? Math.max(fewestPerTurn, this.perTurn >> 1)
      : Math.min(mostPerTurn, this.perTurn * 2);
    const due: (() => void)[] = [];
    while (due.length < this.perTurn) {
      const readNext = due.length % readShare === readShare - 1;
      const [first, second] = readNext ? [this.reads, this.urgent] : [this.urgent, this.reads];
      const work = taken(first) ?? taken(second);
      if (!work) break;
      due.push(work);
    }
    // Where some still wait, whoever comes waits behind them.
    this.begun = waiting(this.urgent) + waiting(this.reads) > 0 ? mostPerTurn : due.length;
    this.turnBegan = undefined;
    if (this.begun >= crowd) this.endTurnLater();
    for (const work of due) work();
  }
}

/** Begins at `at`: what stands before it has been taken. */
interface Queue {
  works: (() => void)[];
  at: number;
}

function taken(queue: Queue): (() => void) | undefined {
  const work = queue.works[queue.at];
  if (!work) return undefined;
  // What was taken is let go of once it is half of all: a crowd that never ends must not be kept.
  if (++queue.at * 2 >= queue.works.length) [queue.works, queue.at] = [queue.works.slice(queue.at), 0];
  return work;
}

const waiting = ({ works, at }: Queue): number => works.length - at;

const isUrgent = (method: string, path: string): boolean =>
  (method !== "GET" && method !== "HEAD") || /^\/(livez|readyz|healthz)(?=[/?]|$)/.test(path);
