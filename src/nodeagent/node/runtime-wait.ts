// The agent waits at start for a runtime that is not listening yet, before it opens ports or changes anything
// on the node. After a timeout it continues without the runtime and reports the node as not ready.
import type { Clock, Log } from "#base";
import type { ContainerRuntime } from "#cri";
import { GrpcError } from "#http";
import { waitAtMost } from "../agent-lifecycle.ts";

export interface RuntimeWaitOptions {
  readonly runtime: Pick<ContainerRuntime, "version">;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
}

const maxWaitMilliseconds = 30_000;
const retryMilliseconds = 500;
/** A runtime that accepts the call but does not respond within this time is considered present. */
const responseMilliseconds = 2000;

export async function waitForRuntime({ runtime, clock, log, signal }: RuntimeWaitOptions): Promise<void> {
  const until = clock.monotonic() + maxWaitMilliseconds;
  for (let tries = 1; ; tries++) {
    const connectionError = await connectionErrorOf(runtime, clock, signal);
    if (connectionError === undefined || signal.aborted) return;
    if (tries === 1) log.warn("waiting for the container runtime", { error: connectionError.message });
    if (clock.monotonic() >= until) return;
    await clock.sleep(retryMilliseconds, signal).catch(() => undefined);
  }
}

/** Returns why the runtime is unreachable; undefined if it is reachable. */
async function connectionErrorOf(
  runtime: Pick<ContainerRuntime, "version">,
  clock: Clock,
  signal: AbortSignal,
): Promise<GrpcError | undefined> {
  let connectionError: GrpcError | undefined;
  const response = runtime.version(signal).then(
    () => undefined,
    (error: unknown) => {
      if (error instanceof GrpcError && error.code === "UNAVAILABLE") connectionError = error;
    },
  );
  await waitAtMost(clock, responseMilliseconds, response);
  return connectionError;
}
