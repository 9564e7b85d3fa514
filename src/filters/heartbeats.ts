// Batches heartbeats if there are many.
//
// A single request costs about twice as much as one of several: neither code nor data are in the processor's
// caches, and it uses a transaction of the store of its own. The latency of lease renewals does not matter:
// they are sent every ten seconds and expire after forty. So in a cluster of thousands of nodes each renewal
// is delayed by some milliseconds to join the next ones, like interrupt coalescing in a network card. In a
// small cluster there is no delay.
import type { Clock } from "#base";
import { type Dialect, groupName } from "#dialect";
import type { ApiCall } from "#endpoints";
import type { Reply } from "#http";
import type { Filter } from "./filter.ts";

const batchDelayMilliseconds = 10;
/** Number of renewals per second from which batching pays off: those of a thousand nodes. */
const batchingRate = 100;

export function batchHeartbeats(clock: Clock, dialect: Dialect): Filter {
  const group = groupName(dialect, { group: "coordination", branded: true });
  const isRenewal = ({ target: { resource, verb, subresource, group: requestGroup } }: ApiCall): boolean =>
    resource === "leases" &&
    (verb === "update" || verb === "patch") &&
    subresource === "" &&
    requestGroup === group;
  const rate = new RateOfSecond();
  let waiting: (() => void)[] = [];
  const release = (): void => {
    const due = waiting;
    waiting = [];
    for (const go of due) go();
  };
  return {
    name: "gather heartbeats",
    run: (call, next) => {
      if (!isRenewal(call)) return next();
      // Renewals stay in order: new ones are queued behind those that wait.
      if (rate.next(clock.monotonic()) < batchingRate && waiting.length === 0) return next();
      if (waiting.length === 0) clock.after(batchDelayMilliseconds, release);
      return new Promise<Reply>((resolve, reject) => {
        waiting.push(() => void Promise.try(next).then(resolve, reject));
      });
    },
  };
}

/** The count of the last full second. */
class RateOfSecond {
  private second = -Infinity;
  private count = 0;
  private before = 0;

  /** Counts one event. */
  next(now: number): number {
    const second = Math.floor(now / 1000);
    if (second !== this.second) {
      this.before = second === this.second + 1 ? this.count : 0;
      this.second = second;
      this.count = 0;
    }
    this.count++;
    return this.before;
  }
}
