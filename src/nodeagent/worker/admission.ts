// Admits pods that are new to this agent: they run, wait for others to end, or are rejected.
import type { Pod, PodStatus } from "#api";
import { timeOfMillis } from "#base";
import { isRunningPod } from "../containers/observed.ts";
import { portsCollide } from "../node/host-ports.ts";
import { isFinished, referenceTo, uidOf } from "../pod.ts";
import { type PodEntries, type PodWorkersOptions, isUncounted, podOf } from "./entry.ts";
import { type WorkerState, graceOf } from "./state.ts";

/** Where a new pod begins, and what is known of its status. */
export interface Admission {
  readonly state: WorkerState;
  readonly status?: PodStatus;
  /** It ran before this agent started: what an earlier agent mounted is taken over. */
  readonly ran?: boolean;
}

export function admitPod(
  { context, admission, tally }: PodWorkersOptions,
  entries: PodEntries,
  pod: Pod,
): Admission {
  const { clock, cache, events, dialect } = context;
  const here = [...entries.values()].filter(({ worker }) => worker.state().at !== "terminated");
  // What the node has given counts, not what is asked for beyond it.
  const allocations = context.resize?.allocations;
  const given = (of: Pod): Pod => allocations?.allocated(of) ?? of;
  // A pod that had finished before the agent started takes no room while its remains are cleared.
  const others = here
    .filter((entry) => !isUncounted(entry) && !isFinished(podOf(entry)))
    .map((entry) => given(podOf(entry)));
  // The ports of pods that are not counted are free once they have ended.
  const inTheWay = here
    .filter(isUncounted)
    .map(podOf)
    .filter((other) => portsCollide(pod, [other]));
  const known = cache.cached(uidOf(pod));
  const ran = known ? isRunningPod(known) : cache.has(uidOf(pod));
  // What ran before the agent restarted is asked about again, as by the kubelet.
  const admitted = admission.admit(given(pod), others, ran);
  if (admitted.ok) {
    allocations?.allocate(given(pod));
    const preempts = (admitted.preempts ?? []).map((other) => preempt(other, admitted.lacking ?? ""));
    const awaits = [...inTheWay.map(uidOf), ...preempts];
    return { state: { at: "syncing", pod, ...(awaits.length > 0 && { awaits }) }, ran };
  }
  const { reason, message } = admitted;
  events.event(referenceTo(pod), "Warning", reason, message);
  const told = `Pod was rejected: ${message}`;
  if (ran) {
    const ending = { kind: "ended", reason, message: told, rejected: true } as const;
    return { state: { at: "terminating", pod, graceSeconds: graceOf(pod), reason: ending } };
  }
  return {
    state: { at: "terminated", pod, reason: { kind: "ended", reason, message } },
    status: rejectedStatus(pod, admitted, clock.now()),
  };

  /** Ends a pod for another's sake; gives its uid. */
  function preempt(victim: Pod, lacking: string): string {
    tally?.preempted(lacking);
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

/** The status of a pod of which nothing was made. */
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
 * Where a pod begins that an earlier agent rejected: nothing is to be said about containers that it never had.
 */
export function rejectedBefore(pod: Pod): Admission | undefined {
  if (!isFinished(pod) || pod.status.containerStatuses !== undefined) return undefined;
  const { reason = "", message = "" } = pod.status;
  return { state: { at: "terminated", pod, reason: { kind: "ended", reason, message } }, status: pod.status };
}
