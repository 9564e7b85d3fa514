// Plans the init containers of a pod. Pure.
//
//   init container     runs to completion, then the next one starts
//   sidecar            starts, passes its startup probe, then the next one starts; is restarted whenever
//                      it exits, fails a probe or changes
//
// They are examined from last to first: a container that has started shows that all before it completed, even
// if the runtime has already removed them.
import { type Container, type Pod, isSidecar } from "#api";
import { containerHash } from "../containers/hash.ts";
import { type ObservedContainer, type ObservedPod, latest } from "../containers/observed.ts";
import { containersOf, initContainersOf } from "../pod.ts";
import type { ContainerStop, ProbeVerdicts } from "./plan.ts";

export interface InitPlan {
  /** Whether the containers of the pod may start. */
  readonly done: boolean;
  /** Whether an init container failed in a pod that never restarts. */
  readonly failed: boolean;
  readonly stop: readonly ContainerStop[];
  readonly start: readonly Container[];
}

export function planInit(pod: Pod, observed: ObservedPod, probes: ProbeVerdicts): InitPlan {
  const inits = initContainersOf(pod);
  const start: Container[] = [];
  const stop: ContainerStop[] = [];
  // Once an app container has run, the init containers are done, even if they have been removed since.
  let done =
    inits.length === 0 || containersOf(pod).some(({ name }) => latest(observed, name)?.state === "running");
  let passed = done;
  const proceedAfter = (at: number): void => {
    const next = inits[at + 1];
    if (!next) done = true;
    else if (!passed) start.push(next);
  };
  for (let at = inits.length - 1; at >= 0; at--) {
    const container = inits[at]!;
    const found = latest(observed, container.name);
    if (isSidecar(container)) {
      const state = sidecarState(container, found, probes);
      if (state.started) proceedAfter(at);
      if (state.stop) stop.push(state.stop);
      if (state.stop || (found ? found.state !== "running" : passed)) start.push(container);
    } else if (found && !passed) {
      if (found.state === "exited" && found.exitCode === 0) proceedAfter(at);
      else if (found.state === "exited" && pod.spec.restartPolicy === "Never")
        return { done: false, failed: true, start: [], stop: [] };
      else if (found.state !== "running") start.push(container);
      if (found.state === "unknown") stop.push(unknownState(found));
    }
    passed ||= found !== undefined;
  }
  if (!passed) start.push(inits[0]!);
  return { done, failed: false, start: start.toReversed(), stop };
}

/**
 * Reports whether the next container may start after a sidecar, and why the sidecar must be stopped first.
 */
function sidecarState(
  container: Container,
  found: ObservedContainer | undefined,
  probes: ProbeVerdicts,
): { readonly started: boolean; readonly stop?: ContainerStop } {
  if (found?.state === "unknown") return { started: false, stop: unknownState(found) };
  if (found?.state !== "running") return { started: false };
  const started = probes.isStarted(found.id, container.startupProbe !== undefined);
  if (containerHash(container) !== found.runtimeLabels.hash)
    return {
      started,
      stop: {
        container: found,
        reason: "Changed",
        message: `Init container ${container.name} definition changed`,
      },
    };
  const failure = probes.failed(found.id);
  if (!failure) return { started };
  const what = failure === "LivenessProbe" ? "liveness probe" : "startup probe";
  return {
    started,
    stop: { container: found, reason: failure, message: `Init container ${container.name} failed ${what}` },
  };
}

const unknownState = (container: ObservedContainer): ContainerStop => ({
  container,
  reason: "Unknown",
  message: `Init container ${container.name} is in an unknown state, try killing it before restart`,
});
