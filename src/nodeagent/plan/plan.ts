// Plans the next steps for a pod by comparing its spec with the observed state. Pure; sync/ executes the plan.
//
//   no sandbox, or a broken one              → new sandbox, then the first init container or all containers
//   a pending init container                 → that one, and none after it (init-plan.ts)
//   containers ended, changed or unhealthy   → those that the restart policy allows to start again
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
  /** Stop all containers and the sandbox first. */
  readonly stopPod: boolean;
  /** Create a sandbox with this attempt number. */
  readonly newSandbox?: { readonly attempt: number };
  /** The sandbox to start containers in, when no new one is created. */
  readonly sandboxId?: string;
  readonly stop: readonly ContainerStop[];
  /** Init containers: the next one, and sidecars that ended. */
  readonly startInit: readonly Container[];
  readonly start: readonly Container[];
  readonly startEphemeral: readonly Container[];
}

/** Probe results by container ID. */
export interface ProbeVerdicts {
  failed(containerId: string): "LivenessProbe" | "StartupProbe" | undefined;
  isStarted(containerId: string, hasProbe: boolean): boolean;
}

/** Distinguishes in-place resource changes from changes that require a new container. */
export interface ContainerResizing {
  hasChanged(container: Container, found: ObservedContainer): boolean;
  /** Reports whether applying the new resources requires a restart. */
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
  const startEphemeral = ephemeralContainersOf(pod).filter(({ name }) => !hasStarted(latest(observed, name)));
  const base = { ...nothing, sandboxId, startEphemeral };
  if (!init.done) return { ...base, stop: init.stop, startInit: init.start };
  const { stop, start, ending } = planContainers(pod, observed, probes, resizing);
  // Running sidecars do not keep a pod alive whose app containers have ended.
  if (ending) return { ...base, stop, stopPod: true };
  return { ...base, stop: [...init.stop, ...stop], startInit: init.start, start };
}

function withNewSandbox(pod: Pod, observed: ObservedPod, init: InitPlan, attempt: number): Plan {
  const stopPod =
    observed.sandboxes.length > 0 || observed.containers.some(({ state }) => state === "running");
  const over: Plan = { ...nothing, stopPod };
  // Containers end together with their sandbox: those of a pod that never restarts have already run.
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

/** Without in-place resize, any change of a container requires a new one. */
const fixed: ContainerResizing = {
  hasChanged: (container, found) => containerHash(container) !== found.runtimeLabels.hash,
  needsRestart: () => false,
};

/** Plans the app containers; `ending` is true if no container runs and none will be started. */
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

/** Reports whether a container that is not running should start, by its own restart policy or the pod's. */
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

/** Returns the next attempt number if a new sandbox is needed. */
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

/** Reports whether a container was ever started, not merely created. */
export const hasStarted = (found: ObservedContainer | undefined): boolean =>
  found !== undefined && found.state !== "created";
const hasSucceeded = (found: ObservedContainer | undefined): boolean =>
  found?.state === "exited" && found.exitCode === 0;
