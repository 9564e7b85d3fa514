// Enforces the deadline of requests other than long-running ones: the client's `timeout` or the server's
// limit.
import { ApiError, type Clock, badRequest, durationMillis, timeout } from "#base";
import type { ApiCall } from "#endpoints";
import { type Reply, discardReply } from "#http";
import type { Filter } from "./filter.ts";
import { isLongRunning } from "./long-running.ts";

export interface DeadlineOptions {
  readonly clock: Clock;
  readonly requestTimeoutMilliseconds: number;
  /** Called for each request that exceeded its deadline. */
  readonly exceeded?: (call: ApiCall) => void;
  /** Called when the handler of such a request has ended. */
  readonly endedLate?: (outcome: "ok" | "panic") => void;
}

/**
 * The result of a handler that exceeds the deadline is dropped; a write may have been committed nevertheless,
 * as with any lost response.
 */
export function deadline({
  clock,
  requestTimeoutMilliseconds,
  exceeded,
  endedLate,
}: DeadlineOptions): Filter {
  return {
    name: "deadline",
    run: (call, next) => {
      if (isLongRunning(call.target)) return next();
      const requested = call.query.get("timeout");
      const limit = requested
        ? Math.min(requestTimeoutMilliseconds, durationOf(requested))
        : requestTimeoutMilliseconds;
      call.deadline = clock.monotonic() + limit;
      // Such a deadline has passed before anything could be done.
      if (limit < timerMilliseconds) {
        exceeded?.(call);
        return Promise.resolve(timeoutReply);
      }
      const { headers } = call;
      return new Promise<Reply>((resolve, reject) => {
        let givenUp = false;
        const giveUp = (): void => {
          givenUp = true;
          exceeded?.(call);
          call.abandon(timeoutError);
          call.resetHeaders(headers);
          resolve(timeoutReply);
        };
        const cancel = clock.after(limit, giveUp);
        const failed = (error: Error): void => {
          cancel();
          if (givenUp) return endedLate?.(error instanceof ApiError ? "ok" : "panic");
          // An operation limited by the request's deadline, such as a webhook call, fails at the same moment.
          if (clock.monotonic() < call.deadline - timerMilliseconds) return reject(error);
          giveUp();
          endedLate?.("ok");
        };
        try {
          next().then((reply) => {
            cancel();
            if (!givenUp) return resolve(reply);
            endedLate?.("ok");
            void discardReply(reply);
          }, failed);
        } catch (error) {
          failed(error as Error);
        }
      });
    },
  };
}

const timeoutError = timeout("Timeout: request did not complete within the allotted timeout");

/** A timer may fire this much early. */
const timerMilliseconds = 1;

/**
 * kube-apiserver writes this Status without a kind, and its HTTP server detects the content type as text.
 * Clients do not parse text: they report that the server was unable to answer in time, and tools match on
 * that.
 */
const timeoutReply: Reply = {
  status: timeoutError.code,
  headers: { "content-type": "text/plain; charset=utf-8" },
  body: Buffer.from(
    `${JSON.stringify({
      metadata: {},
      status: "Failure",
      message: timeoutError.message,
      reason: timeoutError.reason,
      details: {},
      code: timeoutError.code,
    })}\n`,
  ),
};

/** A timeout that is not positive is ignored. */
function durationOf(text: string): number {
  try {
    const milliseconds = durationMillis(text);
    return milliseconds > 0 ? milliseconds : Infinity;
  } catch (error) {
    const { message } = error as Error;
    throw badRequest(`invalid timeout specified in the request URL - ${message.slice(0, 256)}`);
  }
}
