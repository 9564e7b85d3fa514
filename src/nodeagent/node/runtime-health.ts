// Whether the container runtime is up and its network ready, asked again and again.
import type { Clock, Log } from "#base";
import type { ContainerRuntime, VersionResponse } from "#cri";

export interface RuntimeHealth {
  /** Why pods cannot run because of the runtime; empty when they can. */
  troubles(): readonly string[];
  /** What the runtime called itself last. */
  version(): Pick<VersionResponse, "runtimeName" | "runtimeVersion"> | undefined;
  /** Why pods can have no network of their own now; undefined when they can. */
  networkTrouble(): string | undefined;
  /** Asks now; never rejects. */
  check(): Promise<void>;
  stop(): void;
}

export interface RuntimeHealthOptions {
  readonly runtime: ContainerRuntime;
  readonly clock: Clock;
  readonly log: Log;
  /** Told when the troubles are other than before. */
  readonly onChange: () => void;
}

const checkMilliseconds = 5000;
/** A runtime that did not answer well for this long is down. */
const patienceMilliseconds = 30_000;
const down = "container runtime is down";

export function runtimeHealth({ runtime, clock, log, onChange }: RuntimeHealthOptions): RuntimeHealth {
  const stopping = new AbortController();
  let version: VersionResponse | undefined;
  let isVersionOld = true;
  let lastGoodAt: number | undefined;
  let runtimeTrouble = "container runtime status check may not have completed yet";
  let networkTrouble = "";
  let told = false;
  // One that does not answer at all is down as well, though nothing was heard of it that would say so.
  const isSilent = (): boolean => lastGoodAt !== undefined && clock.now() - lastGoodAt > patienceMilliseconds;
  const troubles = (): string[] =>
    [isSilent() ? down : runtimeTrouble, networkTrouble].filter((text) => text !== "");
  let shown = troubles().join();
  const check = async (): Promise<void> => {
    try {
      const { conditions } = await runtime.status(stopping.signal);
      if (isVersionOld) version = await runtime.version(stopping.signal);
      isVersionOld = false;
      const conditionOf = (type: string) => conditions.find((condition) => condition.type === type);
      const [ready, network] = [conditionOf("RuntimeReady"), conditionOf("NetworkReady")];
      networkTrouble = network?.status
        ? ""
        : `container runtime network not ready: NetworkReady=false reason:${network?.reason ?? ""} message:${network?.message ?? ""}`;
      if (!ready?.status)
        throw new Error(
          `container runtime not ready: RuntimeReady=false reason:${ready?.reason ?? ""} message:${ready?.message ?? ""}`,
        );
      lastGoodAt = clock.now();
      runtimeTrouble = "";
      told = false;
    } catch (error) {
      if (stopping.signal.aborted) return;
      // A restarted runtime may be another one: its version is asked again, and the old one stays till then.
      isVersionOld = true;
      if (lastGoodAt === undefined) runtimeTrouble = down;
      if (!told) log.warn("container runtime status check failed", { error: (error as Error).message });
      told = true;
    }
    const found = troubles().join();
    if (found === shown) return;
    shown = found;
    onChange();
  };
  void (async () => {
    while (!stopping.signal.aborted) {
      await check();
      await clock.sleep(checkMilliseconds, stopping.signal).catch(() => undefined);
    }
  })();
  return {
    troubles,
    networkTrouble: () => networkTrouble || undefined,
    version: () => version,
    check,
    stop: () => stopping.abort(new Error("stopped")),
  };
}
