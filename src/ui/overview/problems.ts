// Finds current problems in the state of pods and nodes and in the warnings of the last minutes.
import type { ContainerStatus, Node, Pod, TimelineEntry, TimelineObject } from "../api/wire.ts";

export interface Problem {
  /** A short name, such as `CrashLoopBackOff`. */
  readonly what: string;
  readonly why: string;
  readonly object: TimelineObject;
  /** Milliseconds since the epoch; 0 if unknown. */
  readonly since: number;
  /** The number of objects of the same owner with this problem. */
  readonly count: number;
}

const timeOf = (text: string | undefined): number => Date.parse(text ?? "") || 0;

/** Waiting reasons that occur during a normal start. */
const startupReasons = new Set(["ContainerCreating", "PodInitializing", undefined]);

function containerProblem(pod: Pod): { what: string; why: string } | undefined {
  const all: ContainerStatus[] = [
    ...(pod.status.initContainerStatuses ?? []),
    ...(pod.status.containerStatuses ?? []),
  ];
  for (const { name, state, lastState, restartCount } of all) {
    const waiting = state?.waiting;
    if (!waiting || startupReasons.has(waiting.reason)) continue;
    const ended = lastState?.terminated;
    const last = ended ? `; it ended with ${ended.reason ?? "code"} ${ended.exitCode ?? ""}`.trimEnd() : "";
    const restarts = restartCount > 0 ? `, ${restartCount} restarts` : "";
    return {
      what: waiting.reason!,
      why: `container ${name}${restarts}${last}: ${waiting.message ?? waiting.reason}`,
    };
  }
  return undefined;
}

function podProblem(pod: Pod, now: number): Omit<Problem, "count"> | undefined {
  const { metadata, status } = pod;
  if (metadata.deletionTimestamp !== undefined || status.phase === "Succeeded") return undefined;
  const { name, namespace, uid } = metadata;
  const object = { kind: "Pod", name, uid, ...(namespace !== undefined && { namespace }) };
  const since = timeOf(metadata.creationTimestamp);
  if (status.reason === "Evicted") return { what: "Evicted", why: status.message ?? "", object, since };
  if (status.phase === "Failed")
    return { what: status.reason ?? "Failed", why: status.message ?? "the pod has failed", object, since };
  const container = containerProblem(pod);
  if (container) return { ...container, object, since };
  const scheduled = status.conditions?.find(({ type }) => type === "PodScheduled");
  if (status.phase === "Pending" && scheduled?.status === "False")
    return {
      what: scheduled.reason ?? "Pending",
      why: scheduled.message ?? "the scheduler has not found a node yet",
      object,
      since: timeOf(scheduled.lastTransitionTime) || since,
    };
  const ready = status.conditions?.find(({ type }) => type === "Ready");
  const notReadySince = timeOf(ready?.lastTransitionTime);
  if (status.phase === "Running" && ready?.status === "False" && now - notReadySince > settleMilliseconds)
    return { what: "NotReady", why: ready.message ?? "not ready", object, since: notReadySince };
  return undefined;
}

/** Newly started pods are not expected to be ready for this long. */
const settleMilliseconds = 30_000;

export function nodeProblems({ metadata, status }: Node): readonly Problem[] {
  const object = { kind: "Node", name: metadata.name, uid: metadata.uid };
  return (status.conditions ?? [])
    .filter(({ type, status: is }) => (type === "Ready" ? is !== "True" : is === "True"))
    .map(({ type, reason, message, lastTransitionTime }) => ({
      what: type === "Ready" ? "Node not ready" : type,
      why: message ?? reason ?? "",
      object,
      since: timeOf(lastTransitionTime),
      count: 1,
    }));
}

/** Returns one problem per owner and kind of problem, represented by the pod that has had it longest. */
export function podProblems(pods: readonly Pod[], now: number): readonly Problem[] {
  const found = new Map<string, Problem>();
  for (const pod of pods) {
    const problem = podProblem(pod, now);
    if (!problem) continue;
    const owner = pod.metadata.ownerReferences?.[0]?.uid ?? pod.metadata.uid;
    const key = `${owner}/${problem.what}`;
    const before = found.get(key);
    if (!before) found.set(key, { ...problem, count: 1 });
    else
      found.set(key, {
        ...(before.since <= problem.since ? before : problem),
        count: before.count + 1,
      });
  }
  return [...found.values()];
}

/**
 * Returns problems from warnings that object state does not show: occasional probe failures, evictions of
 * deleted pods.
 */
export function warningProblems(
  entries: readonly TimelineEntry[],
  reasons: ReadonlySet<string>,
): readonly Problem[] {
  const found = new Map<string, Problem>();
  for (const { reason, note, object, time, series } of entries) {
    if (!reasons.has(reason)) continue;
    const key = `${object.uid ?? object.name}/${reason}`;
    const before = found.get(key);
    const since = timeOf(series?.first ?? time);
    if (!before || before.since > since) found.set(key, { what: reason, why: note, object, since, count: 1 });
  }
  return [...found.values()];
}

/**
 * Sorts problems by severity, then by number of objects, then newest first; each object and problem occurs
 * once.
 */
export function ranked(problems: readonly Problem[]): readonly Problem[] {
  const seen = new Set<string>();
  return problems
    .filter(({ object, what }) => {
      const key = `${object.uid}/${what}`;
      return !seen.has(key) && seen.add(key);
    })
    .sort((a, b) => rankOf(a) - rankOf(b) || b.count - a.count || b.since - a.since);
}

const rankOf = ({ object, what }: Problem): number =>
  object.kind === "Node" ? 0 : /BackOff|Err|Failed|Invalid/.test(what) ? 1 : /Evict/.test(what) ? 2 : 3;
