// Waits for a request's body while the request counts as in flight, for a limited time: a client that sends
// slowly, or not at all, does not delay others for long. The request's deadline bounds the whole wait.
import type { Clock } from "#base";
import type { ApiCall } from "#endpoints";
import { isLongRunning } from "./long-running.ts";

/** A request whose body has not arrived after this time gives its place to others until it has. */
const placeMilliseconds = 10_000;

const methodsWithBody = new Set(["POST", "PUT", "PATCH", "DELETE"]);

/** Reports whether a handler will read the request's body. */
export const expectsBody = ({ method, target }: ApiCall): boolean =>
  methodsWithBody.has(method) && target.isResource && !isLongRunning(target);

/** Waits for the body of a request that has a place in flight. Reports whether it arrived while it may keep it. */
export function bodyInTime({ call }: ApiCall, clock: Clock): Promise<boolean> {
  return new Promise((resolve) => {
    const cancel = clock.after(placeMilliseconds, () => resolve(false));
    void call.bodyBuffered().finally(() => {
      cancel();
      resolve(true);
    });
  });
}
