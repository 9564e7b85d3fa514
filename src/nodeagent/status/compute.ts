// Computes the status of a pod from its spec, the observed state and the previous status. Pure.
import {
  type ContainerStatus,
  type Pod,
  type PodCondition,
  type PodStatus,
  isSidecar,
  runningContainers,
} from "#api";
import { timeOfMillis } from "#base";
import { type ObservedPod, podIpsOf } from "../containers/observed.ts";
import { qosClass } from "../plan/qos.ts";
import { containersOf, ephemeralContainersOf, initContainersOf, isHostNetwork } from "../pod.ts";
import { sandboxChange } from "../plan/plan.ts";
import { type ComputedCondition, containersReady, initialized, isOwnCondition, ready } from "./conditions.ts";
import { type StartError, containerStatuses, lostAtTermination } from "./container-statuses.ts";
import type { Ending } from "../worker/state.ts";
import { phaseOf } from "./phase.ts";

export interface PodStatusFacts {
  readonly now: number;
  readonly runtimeName: string;
  readonly hostIps: readonly string[];
  readonly observed: ObservedPod;
  /** The status last computed, or the one in the API server. */
  readonly old: PodStatus;
  readonly startErrors: ReadonlyMap<string, StartError>;
  readonly probes: {
    isStarted(containerId: string, hasProbe: boolean): boolean;
    isReady(containerId: string, hasProbe: boolean): boolean;
  };
  /** No container of the pod will be started again. */
  readonly over: boolean;
  readonly isStatic: boolean;
  /** Why the node ended the pod. */
  readonly ended?: Ending;
  /** Whether the PodHasNetwork condition is reported. */
  readonly reportsNetwork?: boolean | undefined;
  /** Whether `hostIPs` is reported. */
  readonly reportsHostIps?: boolean | undefined;
}

const isTerminal = (phase: string | undefined): boolean => phase === "Succeeded" || phase === "Failed";

export function computeStatus(pod: Pod, facts: PodStatusFacts): PodStatus {
  const { old, observed, runtimeName, startErrors } = facts;
  const base = { runtimeName, observed, startErrors };
  const inits = containerStatuses(pod, initContainersOf(pod), {
    ...base,
    old: old.initContainerStatuses ?? [],
    kind: "init",
  });
  const ordinary = containerStatuses(pod, containersOf(pod), {
    ...base,
    old: old.containerStatuses ?? [],
    kind: "ordinary",
  });
  const ephemeral = containerStatuses(pod, ephemeralContainersOf(pod), {
    ...base,
    old: old.ephemeralContainerStatuses ?? [],
    kind: "ephemeral",
  });
  for (const status of [...inits, ...ordinary])
    truncateMessages(status, Math.floor(maxMessageBytes / (inits.length + ordinary.length)));
  for (const [position, status] of inits.entries())
    if (isSidecar(initContainersOf(pod)[position]!)) readiness(pod, status, facts);
    else status.ready = status.state.terminated?.exitCode === 0;
  for (const status of ordinary) readiness(pod, status, facts);

  let phase: string = phaseOf(pod, [...inits, ...ordinary], facts.over && !facts.isStatic);
  if (!isTerminal(phase))
    phase = isTerminal(old.phase) ? old.phase! : isTerminal(pod.status?.phase) ? pod.status.phase! : phase;
  let reason = phase === old.phase ? old.reason || pod.status?.reason : undefined;
  let message = phase === old.phase ? old.message || pod.status?.message : undefined;
  if (facts.ended?.final) [phase, reason, message] = ["Failed", facts.ended.reason, facts.ended.message];
  if (isTerminal(pod.status?.phase)) phase = pod.status.phase!;

  const disruption = facts.ended?.disruption && {
    type: "DisruptionTarget",
    status: "True",
    ...facts.ended.disruption,
  };
  const others = (pod.status?.conditions ?? []).filter(
    ({ type }) => !isOwnCondition(type) && type !== disruption?.type,
  );
  const all = containersReady(pod, [...inits, ...ordinary], phase);
  const own = [
    ...(facts.reportsNetwork
      ? [{ type: "PodHasNetwork", status: sandboxChange(pod, observed) ? "False" : "True" }]
      : []),
    initialized(pod, inits, ordinary, phase),
    ready(pod, all, others),
    all,
    { type: "PodScheduled", status: "True" },
    ...(disruption ? [disruption] : []),
  ];
  // A pod ended by the node keeps the readiness of its containers until they have ended.
  if (facts.ended && !facts.ended.final && !facts.over && !isTerminal(pod.status?.phase))
    [phase, reason, message] = ["Failed", facts.ended.reason, facts.ended.message];
  const ips = addresses(pod, facts);
  return {
    phase,
    conditions: [...others, ...own.map((found) => stamped(found, old.conditions ?? [], facts.now))],
    ...(message && { message }),
    ...(reason && { reason }),
    ...(facts.hostIps[0] && { hostIP: facts.hostIps[0] }),
    ...(facts.reportsHostIps &&
      facts.hostIps.length > 0 && { hostIPs: facts.hostIps.slice(0, 2).map((ip) => ({ ip })) }),
    ...(ips.length > 0 && { podIP: ips[0], podIPs: ips.map((ip) => ({ ip })) }),
    startTime: old.startTime ?? pod.status?.startTime ?? timeOfMillis(facts.now),
    ...(inits.length > 0 && { initContainerStatuses: inits }),
    containerStatuses: ordinary,
    qosClass: qosClass(pod),
    ...(ephemeral.length > 0 && { ephemeralContainerStatuses: ephemeral }),
  };
}

/** Maximum total size in bytes of the termination messages of a pod's containers. */
const maxMessageBytes = 12 * 1024;

function truncateMessages(status: ContainerStatus, bytes: number): void {
  for (const key of ["state", "lastState"] as const) {
    const { terminated } = status[key];
    if (!terminated?.message || terminated.message.length * 3 <= bytes) continue;
    const text = Buffer.from(terminated.message);
    if (text.length > bytes)
      status[key] = { terminated: { ...terminated, message: text.subarray(0, bytes).toString() } };
  }
}

function readiness(pod: Pod, status: ContainerStatus, { probes }: PodStatusFacts): void {
  const container = runningContainers(pod.spec).find(({ name }) => name === status.name);
  const id = status.containerID?.slice(status.containerID.indexOf("://") + 3) ?? "";
  const running = status.state.running !== undefined;
  status.started = running && probes.isStarted(id, container?.startupProbe !== undefined);
  status.ready = running && status.started && probes.isReady(id, container?.readinessProbe !== undefined);
}

/** Returns the pod's IPs: those of the sandbox, the node's primary family first, or the node's own. */
function addresses(pod: Pod, { observed, hostIps, old }: PodStatusFacts): readonly string[] {
  if (isHostNetwork(pod)) {
    const known = (old.podIPs ?? []).map(({ ip }) => ip ?? "");
    return known.length > 0 ? [...known, ...hostIps.slice(known.length)] : hostIps;
  }
  const found = podIpsOf(observed);
  const isSix = (ip: string): boolean => ip.includes(":");
  const six = hostIps[0] !== undefined && isSix(hostIps[0]);
  const ordered = [found.find((ip) => isSix(ip) === six), found.find((ip) => isSix(ip) !== six)].filter(
    (ip) => ip !== undefined,
  );
  // A stopped sandbox has no IPs any more; the status keeps the last ones.
  return ordered.length > 0 ? ordered : (old.podIPs ?? []).map(({ ip }) => ip ?? "");
}

/** Sets the transition time of a condition. */
function stamped(found: ComputedCondition, old: readonly PodCondition[], now: number): PodCondition {
  const before = old.find(({ type }) => type === found.type);
  const lastTransitionTime =
    before && before.status === found.status && before.lastTransitionTime
      ? before.lastTransitionTime
      : timeOfMillis(now);
  return { ...found, lastProbeTime: null, lastTransitionTime };
}

/** Returns the status of a pod that is admitted but may not be started yet. */
export function blockedStatus(
  status: PodStatus,
  { reason, message }: { readonly reason: string; readonly message: string },
): PodStatus {
  const blocked = (of: ContainerStatus): ContainerStatus =>
    of.state.waiting ? { ...of, state: { waiting: { ...of.state.waiting, reason: "Blocked" } } } : of;
  return {
    ...status,
    ...(!isTerminal(status.phase) && { phase: "Pending" }),
    reason,
    message,
    ...(status.initContainerStatuses && { initContainerStatuses: status.initContainerStatuses.map(blocked) }),
    containerStatuses: (status.containerStatuses ?? []).map(blocked),
  };
}

/**
 * Returns the final status of a terminated pod: no container is waiting or running, and the phase is
 * terminal. `begun` is whether its init containers had completed when termination began: an init container
 * that exited with 0 because it was stopped has not completed.
 */
export function terminatedStatus(
  pod: Pod,
  status: PodStatus,
  isStatic: boolean,
  begun = hasInitialized(pod, status),
): PodStatus {
  const lost = (of: ContainerStatus): ContainerStatus =>
    of.state.terminated ? of : { ...of, state: lostAtTermination };
  const inits = status.initContainerStatuses ?? [];
  const tried = Math.max(
    inits.length > 0 ? 1 : 0,
    inits.findLastIndex(({ state, lastState }) => !state.waiting || lastState.terminated) + 1,
  );
  return {
    ...status,
    ...(!isStatic && !isTerminal(status.phase) && { phase: "Failed" }),
    ...(inits.length > 0 && { initContainerStatuses: inits.map((of, at) => (at < tried ? lost(of) : of)) }),
    containerStatuses: begun ? (status.containerStatuses ?? []).map(lost) : (status.containerStatuses ?? []),
  };
}

export function hasInitialized(pod: Pod, status: PodStatus): boolean {
  if (initContainersOf(pod).length === 0) return true;
  if ((status.containerStatuses ?? []).some(({ state, lastState }) => lastState.terminated || !state.waiting))
    return true;
  const last = status.initContainerStatuses?.at(-1);
  if (isSidecar(initContainersOf(pod).at(-1)!)) return last?.started === true;
  return last?.state.terminated?.exitCode === 0 || last?.lastState.terminated?.exitCode === 0;
}

/** Returns the status to publish: no terminal phase while containers may still run. */
export function publishable(
  status: PodStatus,
  published: PodStatus,
  mayRun: boolean,
  now: number,
): PodStatus {
  if (mayRun && isTerminal(status.phase) && !isTerminal(published.phase)) {
    const { reason: _, message: __, ...rest } = status;
    return {
      ...rest,
      phase: published.phase ?? "Pending",
      ...(published.reason && { reason: published.reason }),
      ...(published.message && { message: published.message }),
    };
  }
  if (!isTerminal(status.phase)) return status;
  // A terminated pod must not be ready, or it would still receive traffic.
  const reason = status.phase === "Failed" ? "PodFailed" : "PodCompleted";
  if (!status.conditions) return status;
  const conditions = status.conditions.map((condition) =>
    (condition.type === "Ready" || condition.type === "ContainersReady") && condition.status === "True"
      ? { ...condition, status: "False", reason, lastTransitionTime: timeOfMillis(now) }
      : condition,
  );
  return { ...status, conditions };
}
