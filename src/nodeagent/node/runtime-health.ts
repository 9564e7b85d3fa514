// Periodic checks whether the container runtime is up and its network is ready.
import type { Clock, Log } from "#base";
import type { ContainerRuntime, VersionResponse } from "#cri";

export interface RuntimeHealth {
  /** Returns the runtime's problems that prevent pods from running; empty if it is healthy. */
  problems(): readonly string[];
  /** Returns the last known name and version of the runtime. */
  version(): Pick<VersionResponse, "runtimeName" | "runtimeVersion"> | undefined;
  /** Returns why pod networking is not ready; undefined if it is. */
  networkError(): string | undefined;
  /** Runs a check now; never rejects. */
  check(): Promise<void>;
  stop(): void;
}

export interface RuntimeHealthOptions {
  readonly runtime: ContainerRuntime;
  readonly clock: Clock;
  readonly log: Log;
  /** Called when the problems have changed. */
  readonly onChange: () => void;
}

const checkMilliseconds = 5000;
/** Time without a successful check after which the runtime is considered down. */
const downAfterMilliseconds = 30_000;
const down = "container runtime is down";

export function runtimeHealth({ runtime, clock, log, onChange }: RuntimeHealthOptions): RuntimeHealth {
  const stopping = new AbortController();
  let version: VersionResponse | undefined;
  let isVersionOutdated = true;
  let lastGoodAt: number | undefined;
  let runtimeError = "container runtime status check may not have completed yet";
  let networkError = "";
  let isLogged = false;
  // A runtime that never responds is down, too, even though no check has failed.
  const isOverdue = (): boolean =>
    lastGoodAt !== undefined && clock.monotonic() - lastGoodAt > downAfterMilliseconds;
  const problems = (): string[] =>
    [isOverdue() ? down : runtimeError, networkError].filter((text) => text !== "");
  let reported = problems().join();
  const check = async (): Promise<void> => {
    try {
      const { conditions } = await runtime.status(stopping.signal);
      if (isVersionOutdated) version = await runtime.version(stopping.signal);
      isVersionOutdated = false;
      const conditionOf = (type: string) => conditions.find((condition) => condition.type === type);
      const [ready, network] = [conditionOf("RuntimeReady"), conditionOf("NetworkReady")];
      networkError = network?.status
        ? ""
        : `container runtime network not ready: NetworkReady=false reason:${network?.reason ?? ""} message:${network?.message ?? ""}`;
      if (!ready?.status)
        throw new Error(
          `container runtime not ready: RuntimeReady=false reason:${ready?.reason ?? ""} message:${ready?.message ?? ""}`,
        );
      lastGoodAt = clock.monotonic();
      runtimeError = "";
      isLogged = false;
    } catch (error) {
      if (stopping.signal.aborted) return;
      // A restarted runtime may have another version: query it again, and keep the old one until then.
      isVersionOutdated = true;
      if (lastGoodAt === undefined) runtimeError = down;
      if (!isLogged) log.warn("container runtime status check failed", { error: (error as Error).message });
      isLogged = true;
    }
    const found = problems().join();
    if (found === reported) return;
    reported = found;
    onChange();
  };
  void (async () => {
    while (!stopping.signal.aborted) {
      await check();
      await clock.sleep(checkMilliseconds, stopping.signal).catch(() => undefined);
    }
  })();
  return {
    problems,
    networkError: () => networkError || undefined,
    version: () => version,
    check,
    stop: () => stopping.abort(new Error("stopped")),
  };
}
