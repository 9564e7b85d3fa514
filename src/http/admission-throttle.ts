// Limits how many requests one turn of the event loop starts, so that a burst does not delay timers and other
// connections. Under load, health checks and writes (which include heartbeats) run before reads: nodes must
// not appear dead because all agents list their pods again at once.

/** Maximum number of requests started per turn of the event loop; lowered if turns take long. */
const mostPerTurn = 64;
const fewestPerTurn = 8;
/**
 * The end of a turn is only tracked once this many requests have started in it: fewer do not delay anything.
 */
const crowd = 16;
const longTurnMilliseconds = 40;
/** One of this many started requests is a read, however many writes are queued. */
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

  /** Starts the work now or in one of the next turns. The caller bounds the number of queued requests. */
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
    // While requests are queued, new ones are queued behind them.
    this.begun = waiting(this.urgent) + waiting(this.reads) > 0 ? mostPerTurn : due.length;
    this.turnBegan = undefined;
    if (this.begun >= crowd) this.endTurnLater();
    for (const work of due) work();
  }
}

/** A FIFO that starts at index `at`: earlier entries have been taken. */
interface Queue {
  works: (() => void)[];
  at: number;
}

function taken(queue: Queue): (() => void) | undefined {
  const work = queue.works[queue.at];
  if (!work) return undefined;
  // Drop the taken entries once they are half of the array: under constant load the queue may never become
  // empty.
  if (++queue.at * 2 >= queue.works.length) [queue.works, queue.at] = [queue.works.slice(queue.at), 0];
  return work;
}

const waiting = ({ works, at }: Queue): number => works.length - at;

const isUrgent = (method: string, path: string): boolean =>
  (method !== "GET" && method !== "HEAD") || /^\/(livez|readyz|healthz)(?=[/?]|$)/.test(path);
