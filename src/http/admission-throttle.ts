// Limits how many requests one turn of the event loop starts, so that a burst does not delay timers and other
// connections. Under load, health checks and writes (which include heartbeats) run before reads: nodes must
// not appear dead because all agents list their pods again at once.

/** Maximum number of requests started per turn of the event loop; lowered if turns take long. */
const maxPerTurn = 64;
const minPerTurn = 8;
/**
 * The end of a turn is only tracked once this many requests have started in it: fewer do not delay anything.
 */
const trackingThreshold = 16;
const longTurnMilliseconds = 40;
/** One of this many started requests is a read, however many writes are queued. */
const readShare = 4;

export class AdmissionThrottle {
  private readonly now: () => number;
  private started = 0;
  private perTurn = maxPerTurn;
  private turnStartedAt: number | undefined;
  private readonly urgent: Queue = { tasks: [], at: 0 };
  private readonly reads: Queue = { tasks: [], at: 0 };

  constructor(now: () => number = () => performance.now()) {
    this.now = now;
  }

  /** Starts the work now or in one of the next turns. The caller bounds the number of queued requests. */
  begin(work: () => void, method: string, path: string): void {
    const startsNow = ++this.started <= this.perTurn;
    if (this.turnStartedAt === undefined && (!startsNow || this.started >= trackingThreshold))
      this.scheduleNextTurn();
    if (startsNow) work();
    else (isUrgent(method, path) ? this.urgent : this.reads).tasks.push(work);
  }

  private scheduleNextTurn(): void {
    this.turnStartedAt = this.now();
    setImmediate(() => this.next(this.now() - this.turnStartedAt!));
  }

  private next(tookMilliseconds: number): void {
    const isLong = tookMilliseconds > longTurnMilliseconds;
    this.perTurn = isLong ? Math.max(minPerTurn, this.perTurn >> 1) : Math.min(maxPerTurn, this.perTurn * 2);
    const due: (() => void)[] = [];
    while (due.length < this.perTurn) {
      const readNext = due.length % readShare === readShare - 1;
      const [first, second] = readNext ? [this.reads, this.urgent] : [this.urgent, this.reads];
      const work = dequeue(first) ?? dequeue(second);
      if (!work) break;
      due.push(work);
    }
    // While requests are queued, new ones are queued behind them.
    this.started = lengthOf(this.urgent) + lengthOf(this.reads) > 0 ? maxPerTurn : due.length;
    this.turnStartedAt = undefined;
    if (this.started >= trackingThreshold) this.scheduleNextTurn();
    for (const work of due) work();
  }
}

/** A FIFO that starts at index `at`: earlier entries have been taken. */
interface Queue {
  tasks: (() => void)[];
  at: number;
}

function dequeue(queue: Queue): (() => void) | undefined {
  const work = queue.tasks[queue.at];
  if (!work) return undefined;
  // Drop the taken entries once they are half of the array: under constant load the queue may never become
  // empty.
  if (++queue.at * 2 >= queue.tasks.length) [queue.tasks, queue.at] = [queue.tasks.slice(queue.at), 0];
  return work;
}

const lengthOf = ({ tasks, at }: Queue): number => tasks.length - at;

const isUrgent = (method: string, path: string): boolean =>
  (method !== "GET" && method !== "HEAD") || /^\/(livez|readyz|healthz)(?=[/?]|$)/.test(path);
