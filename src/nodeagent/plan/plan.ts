// What to do next for a pod: compares what it should be with what the runtime shows. Pure; sync/ does it.
//
//   no sandbox, or a broken one     → new sandbox, then the first init container or all containers
//   an init container to come       → that one, and nothing behind it
//   containers ended, changed, ill  → those that the restart policy lets start again
import type { Container, Pod } from "#api";
import { containerHash } from "../containers/hash.ts";
import { type ObservedContainer, type ObservedPod, latest } from "../containers/observed.ts";
import { containersOf, ephemeralContainersOf, initContainersOf, isDeleted, isHostNetwork } from "../pod.ts";

export type ContainerStopReason =
  | "StartupProbe"
  | "LivenessProbe"
  | "FailedPostStartHook"
  | "Unknown"
  | "Changed";

export interface ContainerStop {
  readonly container: ObservedContainer;
  readonly reason: ContainerStopReason;
  readonly message: string;
}

export interface Plan {
  /** End all containers and the sandbox first. */
  readonly stopPod: boolean;
  /** Make a sandbox; the number tells the how manyth it is. */
  readonly newSandbox?: { readonly attempt: number };
  /** The sandbox to start containers in, when none is to be made. */
  readonly sandboxId?: string;
  readonly stop: readonly ContainerStop[];
  readonly startInit?: Container;
  readonly start: readonly Container[];
  readonly startEphemeral: readonly Container[];
}

/** What the probes found, by container id. */
export interface ProbeVerdicts {
  failed(containerId: string): "LivenessProbe" | "StartupProbe" | undefined;
}

const nothing = { stopPod: false, stop: [], start: [], startEphemeral: [] } as const;

export function plan(pod: Pod, observed: ObservedPod, probes: ProbeVerdicts): Plan {
  const change = sandboxChange(pod, observed);
  if (change) return withNewSandbox(pod, observed, change.attempt);
  const sandboxId = observed.sandboxes[0]!.id;
  const startEphemeral = ephemeralContainersOf(pod).filter(({ name }) => !hasBegun(latest(observed, name)));
  const init = nextInit(pod, observed);
  if (!init.done) {
    const { last, next } = init;
    if (!next) return { ...nothing, sandboxId, startEphemeral };
    if (last && last.name === next.name && hasFailed(last) && pod.spec.restartPolicy === "Never")
      return { ...nothing, stopPod: true, sandboxId };
    const stop =
      last?.state === "unknown"
        ? [
            {
              container: last,
              reason: "Unknown" as const,
              message: `Init container ${last.name} is in an unknown state, try killing it before restart`,
            },
          ]
        : [];
    return { ...nothing, sandboxId, startEphemeral, stop, startInit: next };
  }
  return withSandbox(pod, observed, probes, { sandboxId, startEphemeral });
}

function withNewSandbox(pod: Pod, observed: ObservedPod, attempt: number): Plan {
  const stopPod =
    observed.sandboxes.length > 0 || observed.containers.some(({ state }) => state === "running");
  const over: Plan = { ...nothing, stopPod };
  // A sandbox that died took its containers along: those of a pod that never restarts have run.
  if (pod.spec.restartPolicy === "Never" && attempt > 0 && observed.containers.length > 0) return over;
  const start = containersOf(pod).filter(
    (container) => pod.spec.restartPolicy !== "OnFailure" || !hasSucceeded(latest(observed, container.name)),
  );
  const [firstInit] = initContainersOf(pod);
  if (start.length === 0 && nextInit(pod, observed).done) return over;
  return {
    ...nothing,
    stopPod,
    newSandbox: { attempt },
    ...(firstInit ? { startInit: firstInit } : { start }),
  };
}

function withSandbox(
  pod: Pod,
  observed: ObservedPod,
  probes: ProbeVerdicts,
  base: Pick<Plan, "startEphemeral"> & { readonly sandboxId: string },
): Plan {
  const stop: ContainerStop[] = [];
  const start: Container[] = [];
  let kept = 0;
  for (const container of containersOf(pod)) {
    const found = latest(observed, container.name);
    if (found?.state !== "running") {
      if (!shouldStart(pod, found)) continue;
      start.push(container);
      if (found?.state === "unknown")
        stop.push({
          container: found,
          reason: "Unknown",
          message: `Container ${container.name} is in an unknown state, try killing it before restart`,
        });
      continue;
    }
    const failure = probes.failed(found.id);
    const mayRestart = pod.spec.restartPolicy !== "Never";
    if (containerHash(container) !== found.runtimeLabels.hash)
      stop.push({
        container: found,
        reason: "Changed",
        message: `Container ${container.name} definition changed, will be restarted`,
      });
    else if (failure) {
      const what = failure === "LivenessProbe" ? "liveness probe" : "startup probe";
      stop.push({
        container: found,
        reason: failure,
        message: `Container ${container.name} failed ${what}${mayRestart ? ", will be restarted" : ""}`,
      });
      if (!mayRestart) continue;
    } else {
      kept++;
      continue;
    }
    start.push(container);
  }
  const ending = kept === 0 && start.length === 0;
  return { ...nothing, ...base, stop, start, stopPod: ending };
}

/** Whether a container that does not run should, by the pod's policy. */
export function shouldStart(pod: Pod, found: ObservedContainer | undefined): boolean {
  if (isDeleted(pod)) return false;
  if (!found || found.state === "created" || found.state === "unknown") return true;
  if (found.state === "running") return false;
  if (pod.spec.restartPolicy === "Never") return false;
  return pod.spec.restartPolicy !== "OnFailure" || found.exitCode !== 0;
}

/** Why a new sandbox is needed, if one is. */
function sandboxChange(pod: Pod, { sandboxes }: ObservedPod): { readonly attempt: number } | undefined {
  const [newest] = sandboxes;
  if (!newest) return { attempt: 0 };
  const again = { attempt: newest.attempt + 1 };
  if (sandboxes.filter(({ ready }) => ready).length > 1) return again;
  if (!newest.ready) return again;
  if (newest.hostNetwork !== isHostNetwork(pod)) return again;
  return !isHostNetwork(pod) && newest.ips.length === 0 ? again : undefined;
}

/** Where the init containers stand: all done, or the next one to run (none while one runs). */
function nextInit(
  pod: Pod,
  observed: ObservedPod,
): { readonly done: boolean; readonly last?: ObservedContainer; readonly next?: Container } {
  const inits = initContainersOf(pod);
  if (inits.length === 0) return { done: true };
  // Once a container has run, the init containers were done, even if they were removed since.
  if (containersOf(pod).some(({ name }) => latest(observed, name)?.state === "running"))
    return { done: true };
  for (let at = inits.length - 1; at >= 0; at--) {
    const container = inits[at]!;
    const found = latest(observed, container.name);
    if (!found) continue;
    if (found.state === "running") return { done: false };
    if (found.state === "exited" && found.exitCode === 0) {
      const next = inits[at + 1];
      return next ? { done: false, next } : { done: true };
    }
    return { done: false, last: found, next: container };
  }
  return { done: false, next: inits[0]! };
}

/** Whether a container was ever started; one that was only made was not. */
export const hasBegun = (found: ObservedContainer | undefined): boolean =>
  found !== undefined && found.state !== "created";
const hasFailed = (found: ObservedContainer): boolean => found.state === "exited" && found.exitCode !== 0;
const hasSucceeded = (found: ObservedContainer | undefined): boolean =>
  found?.state === "exited" && found.exitCode === 0;
