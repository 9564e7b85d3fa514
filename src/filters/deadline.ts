// No request but a long-running one outlives its deadline: the client's own `timeout`, or the server's.
import { type Clock, badRequest, durationMillis, timeout } from "#base";
import type { ApiCall } from "#endpoints";
import type { Reply } from "#http";
import type { Filter } from "./filter.ts";
import { isLongRunning } from "./long-running.ts";

export interface DeadlineOptions {
  readonly clock: Clock;
  readonly requestTimeoutMilliseconds: number;
  /** Told of each request that had to be given up. */
  readonly exceeded?: (call: ApiCall) => void;
}

/**
 * What was asked for is dropped when it comes too late; a write may have happened all the same, as with any
 * lost answer.
 */
export function deadline({ clock, requestTimeoutMilliseconds, exceeded }: DeadlineOptions): Filter {
  return {
    name: "deadline",
    run: (call, next) => {
      if (isLongRunning(call.target)) return next();
      const asked = call.query.get("timeout");
      const limit = asked
        ? Math.min(requestTimeoutMilliseconds, durationOf(asked))
        : requestTimeoutMilliseconds;
      call.deadline = clock.now() + limit;
      return new Promise<Reply>((resolve, reject) => {
        const cancel = clock.after(limit, () => {
          const late = timeout("Timeout: request did not complete within the allotted timeout");
          exceeded?.(call);
          call.abandon(late);
          reject(late);
        });
        const failed = (error: Error): void => {
          cancel();
          reject(error);
        };
        try {
          next().then((reply) => {
            cancel();
            resolve(reply);
          }, failed);
        } catch (error) {
          failed(error as Error);
        }
      });
    },
  };
}

/** A time that is not positive is as good as none. */
function durationOf(text: string): number {
  try {
    const milliseconds = durationMillis(text);
    return milliseconds > 0 ? milliseconds : Infinity;
  } catch {
    throw badRequest(`invalid timeout specified in the request URL - ${text.slice(0, 64)}`);
  }
}
