// The lifecycle state machine of a pod on this node. Transitions only move forward, and the grace period only
// shrinks.
import type { Pod } from "#api";
import { isDeleted, isFinished } from "../pod.ts";

export type StopReason =
  | { readonly kind: "deleted" }
  | { readonly kind: "finished" }
  /** Removed from its source, or found running without ever having been in one. */
  | { readonly kind: "removed" }
  /** Ended by the node or by its deadline; the status carries the reason. */
  | ({ readonly kind: "ended" } & Ending);

/** `disruption` is reported in the DisruptionTarget condition. */
export interface Ending {
  readonly reason: string;
  readonly message: string;
  /**
   * The reason stands regardless of container exit codes. Otherwise a pod whose containers all exit with 0 is
   * reported as succeeded.
   */
  readonly final?: boolean;
  /**
   * The pod ran under an earlier agent and was not admitted by this one: it does not count against capacity.
   */
  readonly rejected?: boolean;
  readonly disruption?: { readonly reason: string; readonly message: string };
}

export type WorkerState = Syncing | Terminating | Terminated;

export interface Syncing {
  readonly at: "syncing";
  readonly pod: Pod;
  /**
   * Uids of pods that must have ended before this one starts: preempted pods, or pods holding its host ports.
   */
  readonly awaits?: readonly string[];
}

/** The state of a pod whose termination has begun. */
interface Ended {
  readonly pod: Pod;
  readonly reason: StopReason;
  /** No source has the pod any more: once terminated it is forgotten. */
  readonly orphaned?: true;
  /** A source has the pod again: it is restarted once the old one is forgotten. */
  readonly restartWith?: Pod;
  /** Whether its init containers had completed when termination began. */
  readonly wasInitialized?: boolean;
}

export interface Terminating extends Ended {
  readonly at: "terminating";
  readonly graceSeconds: number;
}

export interface Terminated extends Ended {
  readonly at: "terminated";
  /** Its containers, volumes and directories have been removed. */
  readonly cleared?: true;
}

export type WorkerEvent =
  | { readonly type: "update"; readonly pod: Pod }
  /** With graceSeconds unset or 0 the pod's own grace period applies, as in the kubelet. */
  | { readonly type: "stop"; readonly reason: StopReason; readonly graceSeconds?: number }
  /** The pod was admitted, but a promised resource is unavailable; nothing was created for it. */
  | { readonly type: "rejected"; readonly reason: string; readonly message: string }
  /** No source has the pod any more. */
  | { readonly type: "removed" }
  /**
   * Whether the init containers have completed, sent as termination begins; only the first such event counts.
   */
  | { readonly type: "initialized"; readonly done: boolean }
  /** All its containers have ended. */
  | { readonly type: "stopped" }
  /** Nothing of the pod is left on the node. */
  | { readonly type: "cleared" };

const ordinaryGraceSeconds = 30;

/**
 * Returns the grace period requested by the deletion or by the pod itself. With 0 seconds, preStop hooks are
 * not run.
 */
export function requestedGraceOf(pod: Pod): number {
  const requested = pod.metadata.deletionTimestamp ? pod.metadata.deletionGracePeriodSeconds : undefined;
  return Number(requested ?? pod.spec.terminationGracePeriodSeconds ?? ordinaryGraceSeconds);
}

/** Returns the grace period of a pod, at least one second. */
export const graceOf = (pod: Pod): number => Math.max(1, requestedGraceOf(pod));

/**
 * Reports whether containers are stopped with their individual grace periods, because no grace period was set
 * for the whole pod.
 */
export const usesContainerGrace = (reason: StopReason): boolean =>
  reason.kind === "finished" || (reason.kind === "ended" && reason.final === true);

export function next(state: WorkerState, event: WorkerEvent): WorkerState {
  switch (state.at) {
    case "syncing":
      return whileSyncing(state, event);
    case "terminating":
      return whileTerminating(state, event);
    case "terminated":
      if (event.type === "cleared") return { ...state, cleared: true };
      return applySourceEvent(state, event);
  }
}

function whileSyncing(state: Syncing, event: WorkerEvent): WorkerState {
  const { pod, awaits } = state;
  switch (event.type) {
    case "update": {
      const initial = initialState(event.pod);
      return initial.at === "syncing" && awaits ? { ...initial, awaits } : initial;
    }
    case "removed": {
      const reason: StopReason = { kind: "removed" };
      return { at: "terminating", pod, graceSeconds: graceOf(pod), reason, orphaned: true };
    }
    case "stop": {
      const graceSeconds = Math.max(1, event.graceSeconds || graceOf(pod));
      return { at: "terminating", pod, graceSeconds, reason: event.reason };
    }
    case "rejected": {
      const { reason, message } = event;
      return { at: "terminated", pod, reason: { kind: "ended", reason, message } };
    }
    default:
      return state;
  }
}

function whileTerminating(state: Terminating, event: WorkerEvent): WorkerState {
  const { graceSeconds, at: _, ...ended } = state;
  switch (event.type) {
    case "update": {
      const updated = applySourceEvent(state, event);
      // Deletion may shorten the grace period, but never extend it.
      return isDeleted(event.pod) && !state.orphaned
        ? { ...updated, graceSeconds: Math.min(graceSeconds, graceOf(event.pod)) }
        : updated;
    }
    case "stop":
      return {
        ...state,
        graceSeconds: Math.min(graceSeconds, Math.max(1, event.graceSeconds || graceSeconds)),
      };
    case "initialized":
      return state.wasInitialized === undefined ? { ...state, wasInitialized: event.done } : state;
    case "stopped":
      return { ...ended, at: "terminated" };
    default:
      return applySourceEvent(state, event);
  }
}

/** Applies source events to a pod whose termination has begun. */
function applySourceEvent<S extends Terminating | Terminated>(state: S, event: WorkerEvent): S {
  if (event.type === "removed") {
    const { restartWith: _, ...rest } = state;
    return { ...(rest as S), orphaned: true };
  }
  if (event.type !== "update") return state;
  return state.orphaned ? { ...state, restartWith: event.pod } : { ...state, pod: event.pod };
}

/** Returns the initial state of a pod. */
export function initialState(pod: Pod): WorkerState {
  if (isDeleted(pod))
    return { at: "terminating", pod, graceSeconds: graceOf(pod), reason: { kind: "deleted" } };
  if (isFinished(pod))
    return { at: "terminating", pod, graceSeconds: graceOf(pod), reason: { kind: "finished" } };
  return { at: "syncing", pod };
}
