// How many requests are worked on at a time. Two ways, by --enable-priority-and-fairness:
//
//   without   a limit for reads and one for writes; past it, 429 at once
//   with      one limit for both; past it requests wait, in turns between users, and only a long queue answers 429
//
// The superuser's group is never held back: whoever must repair an overloaded server gets an answer. Neither are
// health checks: an overloaded server that looks dead is restarted, which helps nobody.
import { mastersGroup } from "#authn";
import { type Clock, tooManyRequests } from "#base";
import type { Reply } from "#http";
import type { ApiCall } from "#endpoints";
import type { Filter } from "./filter.ts";
import { isHealthCheck, isLongRunning, isMutating } from "./long-running.ts";

export interface InFlightOptions {
  /** Requests that only read, and requests that write; 0 is no limit. */
  readonly reading: number;
  readonly writing: number;
  /** Wait in turns instead of being refused. */
  readonly queue: boolean;
  readonly clock: Clock;
  /** Told of every request that was refused. */
  readonly refused?: (call: ApiCall) => void;
}

export const refusal = (): Error => tooManyRequests("Too many requests, please try again later.", 1);

/** Most requests that wait, all users together and one user alone; and the longest wait. */
const mostWaiting = 1000;
const mostWaitingOfOne = 200;
const longestWaitMilliseconds = 15_000;

export function inFlightLimit(options: InFlightOptions): Filter {
  const shared = options.queue ? new Slots(options.reading + options.writing) : undefined;
  const reading = shared ?? new Slots(options.reading || Infinity);
  const writing = shared ?? new Slots(options.writing || Infinity);
  const run = async (slots: Slots, next: () => Promise<Reply>): Promise<Reply> => {
    try {
      return await next();
    } finally {
      slots.leave();
    }
  };
  const refuse = (call: ApiCall): Error => {
    options.refused?.(call);
    return refusal();
  };
  return {
    name: "requests in flight",
    run: (call, next) => {
      const slots = isMutating(call.target) ? writing : reading;
      if (isLongRunning(call.target) || isHealthCheck(call.target)) return next();
      if (slots.enter()) return run(slots, next);
      if (call.user?.groups.includes(mastersGroup)) return next();
      if (!options.queue) throw refuse(call);
      return slots.wait(call.user?.name ?? "", options.clock, call.call.signal).then((entered) => {
        if (!entered) throw refuse(call);
        return run(slots, next);
      });
    },
  };
}

type Waiter = (entered: boolean) => void;

/** Places, and who waits for one: a queue per user, served in turns. */
class Slots {
  readonly #limit: number;
  #taken = 0;
  #waiting = 0;
  readonly #queues = new Map<string, Waiter[]>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  enter(): boolean {
    if (this.#taken >= this.#limit) return false;
    this.#taken++;
    return true;
  }

  leave(): void {
    // Whoever waits takes the place over. The user goes to the end of the line of users.
    const first = this.#queues.entries().next();
    if (first.done) {
      this.#taken--;
      return;
    }
    const [user, queue] = first.value;
    const waiter = queue.shift()!;
    this.#queues.delete(user);
    if (queue.length > 0) this.#queues.set(user, queue);
    this.#waiting--;
    waiter(true);
  }

  /**
   * Resolves to whether a place was got; not when the queue is full, the wait too long or the client gone.
   */
  wait(user: string, clock: Clock, signal: AbortSignal): Promise<boolean> {
    const queue = this.#queues.get(user) ?? [];
    if (this.#waiting >= mostWaiting || queue.length >= mostWaitingOfOne || signal.aborted)
      return Promise.resolve(false);
    return new Promise((resolve) => {
      const give = (entered: boolean): void => {
        cancel();
        signal.removeEventListener("abort", leave);
        resolve(entered);
      };
      const leave = (): void => {
        const own = this.#queues.get(user);
        const at = own?.indexOf(give) ?? -1;
        if (!own || at < 0) return;
        own.splice(at, 1);
        if (own.length === 0) this.#queues.delete(user);
        this.#waiting--;
        give(false);
      };
      const cancel = clock.after(longestWaitMilliseconds, leave);
      signal.addEventListener("abort", leave, { once: true });
      queue.push(give);
      this.#queues.set(user, queue);
      this.#waiting++;
    });
  }
}
