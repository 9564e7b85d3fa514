// Waits for a request's body before the request counts as in flight: a client that sends slowly, or not at
// all, does not delay others. The request's deadline bounds the wait.
import type { ApiCall } from "#endpoints";
import type { Reply } from "#http";
import type { Filter } from "./filter.ts";
import { isLongRunning } from "./long-running.ts";

const methodsWithBody = new Set(["POST", "PUT", "PATCH", "DELETE"]);

/** Reports whether a handler will read the request's body. */
export const expectsBody = ({ method, target }: ApiCall): boolean =>
  methodsWithBody.has(method) && target.isResource && !isLongRunning(target);

export const awaitBody: Filter = {
  name: "await body",
  run: (call, next) => (expectsBody(call) ? afterBody(call, next) : next()),
};

async function afterBody({ call }: ApiCall, next: () => Promise<Reply>): Promise<Reply> {
  await call.bodyBuffered();
  return next();
}
