// What to do next for a pod: compares what it should be with what the runtime shows. Pure; sync/ does it.
//
//   no sandbox, or a broken one     → new sandbox, then the first init container or all containers
//   an init container to come       → that one, and nothing behind it (init-plan.ts)
//   containers ended, changed, ill  → those that the restart policy lets start again
import { type Container, type Pod, isSidecar } from "#api";
import { containerHash } from "../containers/hash.ts";
import { type ObservedContainer, type ObservedPod, latest } from "../containers/observed.ts";
import { type InitPlan, planInit } from "./init-plan.ts";
import { containersOf, ephemeralContainersOf, initContainersOf, isDeleted, isHostNetwork } from "../pod.ts";

export type ContainerStopReason =
  | "StartupProbe"
  | "LivenessProbe"
  | "FailedPostStartHook"
  | "Unknown"
  | "Changed"
  | "Resized";

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
  /** Init containers: the next one, and sidecars that ended. */
  readonly startInit: readonly Container[];
  readonly start: readonly Container[];
  readonly startEphemeral: readonly Container[];
}

/** What the probes found, by container id. */
export interface ProbeVerdicts {
  failed(containerId: string): "LivenessProbe" | "StartupProbe" | undefined;
  isStarted(containerId: string, hasProbe: boolean): boolean;
}

/** How containers whose resources may change while they run are told from changed ones. */
export interface ContainerResizing {
  hasChanged(container: Container, found: ObservedContainer): boolean;
  /** Whether its new resources take a restart. */
  needsRestart(container: Container, found: ObservedContainer): boolean;
}

const nothing = { stopPod: false, stop: [], startInit: [], start: [], startEphemeral: [] } as const;

export function plan(
  pod: Pod,
  observed: ObservedPod,
  probes: ProbeVerdicts,
  resizing?: ContainerResizing,
): Plan {
  const init = planInit(pod, observed, probes);
  const change = sandboxChange(pod, observed);
  if (change) return withNewSandbox(pod, observed, init, change.attempt);
  const sandboxId = observed.sandboxes[0]!.id;
  if (init.failed) return { ...nothing, stopPod: true, sandboxId };
  const startEphemeral = ephemeralContainersOf(pod).filter(({ name }) => !hasBegun(latest(observed, name)));
  const base = { ...nothing, sandboxId, startEphemeral };
  if (!init.done) return { ...base, stop: init.stop, startInit: init.start };
  const { stop, start, ending } = planContainers(pod, observed, probes, resizing);
  // Sidecars do not keep a pod running whose containers have ended.
  if (ending) return { ...base, stop, stopPod: true };
  return { ...base, stop: [...init.stop, ...stop], startInit: init.start, start };
}

function withNewSandbox(pod: Pod, observed: ObservedPod, init: InitPlan, attempt: number): Plan {
  const stopPod =
    observed.sandboxes.length > 0 || observed.containers.some(({ state }) => state === "running");
  const over: Plan = { ...nothing, stopPod };
  // A sandbox that died took its containers along: those of a pod that never restarts have run.
  if (pod.spec.restartPolicy === "Never" && attempt > 0 && observed.containers.length > 0) return over;
  const start = containersOf(pod).filter(
    (container) => pod.spec.restartPolicy !== "OnFailure" || !hasSucceeded(latest(observed, container.name)),
  );
  const inits = initContainersOf(pod);
  if (start.length === 0 && (init.done || inits.some(isSidecar))) return over;
  return {
    ...nothing,
    stopPod,
    newSandbox: { attempt },
    ...(inits[0] ? { startInit: [inits[0]] } : { start }),
  };
}

/** Any change of a container takes a new one. */
const fixed: ContainerResizing = {
  hasChanged: (container, found) => containerHash(container) !== found.runtimeLabels.hash,
  needsRestart: () => false,
};

/** `ending` tells that none runs and none will. */
function planContainers(
  pod: Pod,
  observed: ObservedPod,
  probes: ProbeVerdicts,
  resizing: ContainerResizing = fixed,
): Pick<Plan, "stop" | "start"> & { readonly ending: boolean } {
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
    if (resizing.hasChanged(container, found))
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
    } else if (resizing.needsRestart(container, found))
      stop.push({
        container: found,
        reason: "Resized",
        message: `Container ${container.name} resize requires restart`,
      });
    else {
      kept++;
      continue;
    }
    start.push(container);
  }
  return { stop, start, ending: kept === 0 && start.length === 0 };
}

/** Whether a container that does not run should, by its policy or the pod's. */
export function shouldStart(
  pod: Pod,
  found: ObservedContainer | undefined,
  policy = pod.spec.restartPolicy,
): boolean {
  if (isDeleted(pod)) return false;
  if (!found || found.state === "created" || found.state === "unknown") return true;
  if (found.state === "running") return false;
  if (policy === "Never") return false;
  return policy !== "OnFailure" || found.exitCode !== 0;
}

/** Why a new sandbox is needed, if one is. */
export function sandboxChange(
  pod: Pod,
  { sandboxes }: ObservedPod,
): { readonly attempt: number } | undefined {
  const [newest] = sandboxes;
  if (!newest) return { attempt: 0 };
  const again = { attempt: newest.attempt + 1 };
  if (sandboxes.filter(({ ready }) => ready).length > 1) return again;
  if (!newest.ready) return again;
  if (newest.hostNetwork !== isHostNetwork(pod)) return again;
  return !isHostNetwork(pod) && newest.ips.length === 0 ? again : undefined;
}

/** Whether a container was ever started; one that was only made was not. */
export const hasBegun = (found: ObservedContainer | undefined): boolean =>
  found !== undefined && found.state !== "created";
const hasSucceeded = (found: ObservedContainer | undefined): boolean =>
  found?.state === "exited" && found.exitCode === 0;
