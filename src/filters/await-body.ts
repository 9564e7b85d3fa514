// Waits for a request's body before the request takes a place among those in flight: a client that sends slowly,
// or not at all, holds up nobody but itself. The deadline of the request bounds the wait.
import type { ApiCall } from "#endpoints";
import type { Reply } from "#http";
import type { Filter } from "./filter.ts";
import { isLongRunning } from "./long-running.ts";

const methodsWithBody = new Set(["POST", "PUT", "PATCH", "DELETE"]);

export const awaitBody: Filter = {
  name: "await body",
  run: (call, next) => {
    if (!methodsWithBody.has(call.method) || !call.target.isResource || isLongRunning(call.target))
      return next();
    return afterBody(call, next);
  },
};

async function afterBody({ call }: ApiCall, next: () => Promise<Reply>): Promise<Reply> {
  await call.bodyBuffered();
  return next();
}
