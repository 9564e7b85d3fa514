// Limits how many requests one turn of the event loop starts, so that a burst does not delay timers and other
// connections.

/** A turn of the event loop begins so many pieces of work… */
const mostPerTurn = 64;
/**
 * …and whether a turn is over is asked for only once so many have begun: few at a time are never in anybody's
 * way.
 */
const crowd = 16;

export class AdmissionThrottle {
  private begun = 0;
  private readonly waiting: (() => void)[] = [];

  /** Begins the work now, or in one of the next turns. Whoever calls this bounds how much may wait. */
  begin(work: () => void): void {
    this.begun++;
    if (this.begun === crowd) setImmediate(() => this.next());
    if (this.begun <= mostPerTurn) work();
    else this.waiting.push(work);
  }

  private next(): void {
    const due = this.waiting.splice(0, mostPerTurn);
    this.begun = due.length;
    if (this.begun >= crowd) setImmediate(() => this.next());
    for (const work of due) work();
  }
}
