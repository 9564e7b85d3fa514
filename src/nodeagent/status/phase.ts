// Computes the phase of a pod from the states of its containers.
import { type ContainerStatus, type Pod, isSidecar } from "#api";
import { containersOf, initContainersOf } from "../pod.ts";

export type Phase = "Pending" | "Running" | "Succeeded" | "Failed";

/**
 * Computes the phase; `over` means that no container will be started again, regardless of the restart policy.
 */
export function phaseOf(pod: Pod, statuses: readonly ContainerStatus[], over: boolean): Phase {
  const statusOf = (name: string): ContainerStatus | undefined =>
    statuses.find((status) => status.name === name);
  const policy = pod.spec.restartPolicy ?? "Always";
  let uninitialized = 0;
  for (const { name, restartPolicy } of initContainersOf(pod)) {
    if (isSidecar({ restartPolicy })) continue;
    const status = statusOf(name);
    const ended = status?.state.terminated ?? (status?.state.waiting && status.lastState.terminated);
    if (!ended) uninitialized++;
    else if (ended.exitCode !== 0 && policy === "Never") return "Failed";
  }
  const counts = { unknown: 0, running: 0, waiting: 0, stopped: 0, succeeded: 0 };
  // A sidecar counts while it runs, and until it has started for the first time.
  let starting = 0;
  for (const { name } of initContainersOf(pod).filter(isSidecar)) {
    const status = statusOf(name);
    if (status?.state.running) counts.running++;
    else if (!status) counts.unknown++;
    if (!status?.started && !status?.state.terminated && !status?.lastState.terminated) starting++;
  }
  for (const { name } of containersOf(pod)) {
    const status = statusOf(name);
    if (status?.state.running) counts.running++;
    else if (status?.state.terminated) {
      counts.stopped++;
      if (status.state.terminated.exitCode === 0) counts.succeeded++;
    } else if (status?.state.waiting) {
      if (status.lastState.terminated) counts.stopped++;
      else counts.waiting++;
    } else counts.unknown++;
  }
  if (uninitialized > 0 || counts.waiting > 0) return "Pending";
  if (starting > 0 && !containersOf(pod).some(({ name }) => hasRun(statusOf(name)))) return "Pending";
  if (counts.unknown > 0 || (counts.running === 0 && counts.stopped === 0)) return "Pending";
  if (counts.running > 0) return "Running";
  const all = counts.stopped === counts.succeeded;
  if (over) return all ? "Succeeded" : "Failed";
  if (policy === "Always") return "Running";
  if (all) return "Succeeded";
  return policy === "Never" ? "Failed" : "Running";
}

const hasRun = (status: ContainerStatus | undefined): boolean =>
  Boolean(status?.state.running ?? status?.state.terminated ?? status?.lastState.terminated);
