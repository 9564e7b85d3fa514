// Used without priority and fairness: a limit on concurrent reads and one on concurrent writes; beyond it,
// requests are rejected with 429.
//
// The superuser group is exempt, so that an overloaded server can be repaired. So are health checks:
// restarting an overloaded server because it appears dead would not help.
import { mastersGroup } from "#authn";
import { type Clock, tooManyRequests } from "#base";
import type { Reply } from "#http";
import type { ApiCall } from "#endpoints";
import { bodyInTime, expectsBody } from "./await-body.ts";
import type { Filter } from "./filter.ts";
import { tooManyRequestsReply } from "./too-many.ts";
import { isHealthCheck, isLongRunning, isMutating } from "./long-running.ts";

export interface InFlightOptions {
  /** Limits of concurrent reads and writes; 0 means unlimited. */
  readonly reading: number;
  readonly writing: number;
  readonly clock: Clock;
  /** Called for every rejected request. */
  readonly refused?: (call: ApiCall) => void;
}

export const refusal = (): Error => tooManyRequests("Too many requests, please try again later.", 1);

interface Slots {
  readonly limit: number;
  taken: number;
}

export function inFlightLimit(options: InFlightOptions): Filter {
  const reading: Slots = { limit: options.reading || Infinity, taken: 0 };
  const writing: Slots = { limit: options.writing || Infinity, taken: 0 };
  const run = async (slots: Slots, call: ApiCall, next: () => Promise<Reply>): Promise<Reply> => {
    while (slots.taken < slots.limit) {
      slots.taken++;
      try {
        if (!expectsBody(call) || (await bodyInTime(call, options.clock))) return await next();
      } finally {
        slots.taken--;
      }
      await call.call.bodyBuffered();
    }
    if (call.user?.groups.includes(mastersGroup)) return next();
    options.refused?.(call);
    return tooManyRequestsReply;
  };
  return {
    name: "requests in flight",
    run: (call, next) =>
      isLongRunning(call.target) || isHealthCheck(call.target)
        ? next()
        : run(isMutating(call.target) ? writing : reading, call, next),
  };
}
