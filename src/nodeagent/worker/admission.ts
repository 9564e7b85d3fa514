// Admits pods that are new to this agent: a pod is synced, waits for other pods to end, or is rejected.
import type { Pod, PodStatus } from "#api";
import { timeOfMillis } from "#base";
import { isRunningPod } from "../containers/observed.ts";
import { portsCollide } from "../node/host-ports.ts";
import { isFinished, referenceTo, uidOf } from "../pod.ts";
import { type PodEntries, type PodWorkersOptions, isUncounted, podOf } from "./entry.ts";
import { type WorkerState, graceOf } from "./state.ts";

/** The initial state and status of a new pod. */
export interface Admission {
  readonly state: WorkerState;
  readonly status?: PodStatus;
  /** The pod ran before this agent started, so the volumes mounted by the earlier agent are adopted. */
  readonly ran?: boolean;
}

export function admitPod(
  { context, admission, podMetrics }: PodWorkersOptions,
  entries: PodEntries,
  pod: Pod,
): Admission {
  const { clock, cache, events, dialect } = context;
  const here = [...entries.values()].filter(({ worker }) => worker.state().at !== "terminated");
  // Admission counts the resources allocated on the node, not a pending resize request.
  const allocations = context.resize?.allocations;
  const withAllocated = (of: Pod): Pod => allocations?.allocated(of) ?? of;
  // A pod that had finished before the agent started occupies no resources while it is cleaned up.
  const others = here
    .filter((entry) => !isUncounted(entry) && !isFinished(podOf(entry)))
    .map((entry) => withAllocated(podOf(entry)));
  // The host ports of uncounted pods become free once those pods have ended.
  const portConflicts = here
    .filter(isUncounted)
    .map(podOf)
    .filter((other) => portsCollide(pod, [other]));
  const known = cache.cached(uidOf(pod));
  const ran = known ? isRunningPod(known) : cache.has(uidOf(pod));
  // Pods that ran before the agent restarted are admitted again, as by the kubelet.
  const admitted = admission.admit(withAllocated(pod), others, ran);
  if (admitted.ok) {
    allocations?.allocate(withAllocated(pod));
    const preempts = (admitted.preempts ?? []).map((other) => preempt(other, admitted.lacking ?? ""));
    const awaits = [...portConflicts.map(uidOf), ...preempts];
    return { state: { at: "syncing", pod, ...(awaits.length > 0 && { awaits }) }, ran };
  }
  const { reason, message } = admitted;
  events.event(referenceTo(pod), "Warning", reason, message);
  const statusMessage = `Pod was rejected: ${message}`;
  if (ran) {
    const ending = { kind: "ended", reason, message: statusMessage, rejected: true } as const;
    return { state: { at: "terminating", pod, graceSeconds: graceOf(pod), reason: ending } };
  }
  return {
    state: { at: "terminated", pod, reason: { kind: "ended", reason, message } },
    status: rejectedStatus(pod, admitted, clock.now()),
  };

  /** Stops a pod to make room for a critical one; returns the uid of the victim. */
  function preempt(victim: Pod, lacking: string): string {
    podMetrics?.preempted(lacking);
    const text = "Preempted in order to admit critical pod";
    events.event(referenceTo(victim), "Warning", "Preempting", text);
    const agent = dialect.spelling.word("NodeAgent");
    const disruption = {
      reason: `TerminationBy${agent}`,
      message: `Pod was preempted by ${agent} to accommodate a critical pod.`,
    };
    entries.get(uidOf(victim))?.worker.send({
      type: "stop",
      reason: { kind: "ended", reason: "Preempting", message: text, disruption },
    });
    return uidOf(victim);
  }
}

/** Returns the status of a rejected pod, for which nothing was created. */
export const rejectedStatus = (
  pod: Pod,
  { reason, message }: { readonly reason: string; readonly message: string },
  now: number,
): PodStatus => ({
  phase: "Failed",
  reason,
  message: `Pod was rejected: ${message}`,
  startTime: pod.status?.startTime ?? timeOfMillis(now),
});

/**
 * Returns the initial state of a pod that an earlier agent rejected; undefined for other pods. Its status
 * must not mention containers, since the pod never had any.
 */
export function rejectedBefore(pod: Pod): Admission | undefined {
  if (!isFinished(pod) || pod.status.containerStatuses !== undefined) return undefined;
  const { reason = "", message = "" } = pod.status;
  return { state: { at: "terminated", pod, reason: { kind: "ended", reason, message } }, status: pod.status };
}
