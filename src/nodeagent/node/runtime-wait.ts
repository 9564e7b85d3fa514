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

const longestMilliseconds = 30_000;
const againMilliseconds = 500;
/** A runtime that accepts the call but does not respond within this time is considered present. */
const silentMilliseconds = 2000;

export async function waitForRuntime({ runtime, clock, log, signal }: RuntimeWaitOptions): Promise<void> {
  const until = clock.now() + longestMilliseconds;
  for (let tries = 1; ; tries++) {
    const refusal = await refusalOf(runtime, clock, signal);
    if (refusal === undefined || signal.aborted) return;
    if (tries === 1) log.warn("waiting for the container runtime", { error: refusal.message });
    if (clock.now() >= until) return;
    await clock.sleep(againMilliseconds, signal).catch(() => undefined);
  }
}

/** Returns why the runtime is unreachable; undefined if it is reachable. */
async function refusalOf(
  runtime: Pick<ContainerRuntime, "version">,
  clock: Clock,
  signal: AbortSignal,
): Promise<GrpcError | undefined> {
  let refusal: GrpcError | undefined;
  const answered = runtime.version(signal).then(
    () => undefined,
    (error: unknown) => {
      if (error instanceof GrpcError && error.code === "UNAVAILABLE") refusal = error;
    },
  );
  await waitAtMost(clock, silentMilliseconds, answered);
  return refusal;
}
