// Heartbeats go on together where there are many.
//
// A request that comes alone costs about twice what one of several costs: it finds neither code nor data in the
// processor's caches, and has a transaction of the store to itself. Nobody waits for the renewal of a lease, which
// comes every ten seconds and is missed after forty. So in a cluster of thousands of nodes each renewal waits some
// milliseconds for the next ones, as a network card does with packets. In a small one none waits.
import type { Clock } from "#base";
import { type Dialect, groupName } from "#dialect";
import type { ApiCall } from "#endpoints";
import type { Reply } from "#http";
import type { Filter } from "./filter.ts";

const gatheredMilliseconds = 10;
/** Renewals in a second that make it worth waiting for the next one: those of a thousand nodes. */
const many = 100;

export function gatherHeartbeats(clock: Clock, dialect: Dialect): Filter {
  const group = groupName(dialect, { group: "coordination", branded: true });
  const isRenewal = ({ target: { resource, verb, subresource, group: asked } }: ApiCall): boolean =>
    resource === "leases" && (verb === "update" || verb === "patch") && subresource === "" && asked === group;
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
      // Whoever comes while others wait stays behind them.
      if (rate.next(clock.now()) < many && waiting.length === 0) return next();
      if (waiting.length === 0) clock.after(gatheredMilliseconds, release);
      return new Promise<Reply>((resolve, reject) => {
        waiting.push(() => void Promise.try(next).then(resolve, reject));
      });
    },
  };
}

/** How many there were in the last whole second. */
class RateOfSecond {
  private second = -Infinity;
  private count = 0;
  private before = 0;

  /** Counts one more. */
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
