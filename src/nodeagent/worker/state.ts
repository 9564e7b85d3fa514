// Where a pod is in its life on this node, and what moves it on: forward only, and the time it is given to
// end only shrinks.
import type { Pod } from "#api";
import { isDeleted, isFinished } from "../pod.ts";

export type StopReason =
  | { readonly kind: "deleted" }
  | { readonly kind: "finished" }
  /** Nobody wants it any more: its source dropped it, or it was found running and never asked for. */
  | { readonly kind: "removed" }
  /** Ended for the node's sake, or by its deadline; the status tells so. */
  | ({ readonly kind: "ended" } & Ending);

/** `disruption` is told in a condition, for those who want to know reason a pod did not live on. */
export interface Ending {
  readonly reason: string;
  readonly message: string;
  /**
   * Holds whatever becomes of the containers; else a pod whose containers all end well has succeeded all the
   * same.
   */
  readonly final?: boolean;
  /** It ran under an earlier agent, and this one did not admit it: it takes no room from others. */
  readonly rejected?: boolean;
  readonly disruption?: { readonly reason: string; readonly message: string };
}

export type WorkerState = Syncing | Terminating | Terminated;

export interface Syncing {
  readonly at: "syncing";
  readonly pod: Pod;
  /** Pods that must have ended before this one begins: they make room for it, or hold ports that it wants. */
  readonly awaits?: readonly string[];
}

/** What is known of a pod from the moment in which its end began. */
interface Ended {
  readonly pod: Pod;
  readonly reason: StopReason;
  /** No source has it any more: when it is over, it is forgotten. */
  readonly orphaned?: true;
  /** A source wants it again: it begins anew once it is forgotten. */
  readonly restartWith?: Pod;
  /** Whether its init containers were done when its end began. */
  readonly wasInitialized?: boolean;
}

export interface Terminating extends Ended {
  readonly at: "terminating";
  readonly graceSeconds: number;
}

export interface Terminated extends Ended {
  readonly at: "terminated";
  /** Its containers, volumes and folders are gone. */
  readonly cleared?: true;
}

export type WorkerEvent =
  | { readonly type: "update"; readonly pod: Pod }
  /** Without seconds, or with 0 of them, the pod has the time that it asks for, as with the kubelet. */
  | { readonly type: "stop"; readonly reason: StopReason; readonly graceSeconds?: number }
  /** It was admitted, but cannot have what it was promised; nothing of it was made. */
  | { readonly type: "rejected"; readonly reason: string; readonly message: string }
  /** No source has it any more. */
  | { readonly type: "removed" }
  /** Whether its init containers are done, as its end begins; the first word counts. */
  | { readonly type: "initialized"; readonly done: boolean }
  /** All its containers have ended. */
  | { readonly type: "stopped" }
  /** Nothing of it is left on the node. */
  | { readonly type: "cleared" };

const ordinaryGraceSeconds = 30;

/**
 * The seconds a pod is to have for its end, by its deletion or by its own word. None at all means that hooks
 * have no time either.
 */
export function askedGraceOf(pod: Pod): number {
  const asked = pod.metadata.deletionTimestamp ? pod.metadata.deletionGracePeriodSeconds : undefined;
  return Number(asked ?? pod.spec.terminationGracePeriodSeconds ?? ordinaryGraceSeconds);
}

/** The seconds a pod has to end. Nothing is ended without a moment's notice. */
export const graceOf = (pod: Pod): number => Math.max(1, askedGraceOf(pod));

/**
 * Whether the pod's containers are ended one by one as they would be while it goes on: nobody has set a time
 * for the whole.
 */
export const endsByItself = (reason: StopReason): boolean =>
  reason.kind === "finished" || (reason.kind === "ended" && reason.final === true);

export function next(state: WorkerState, event: WorkerEvent): WorkerState {
  switch (state.at) {
    case "syncing":
      return whileSyncing(state, event);
    case "terminating":
      return whileTerminating(state, event);
    case "terminated":
      if (event.type === "cleared") return { ...state, cleared: true };
      return afterwards(state, event);
  }
}

function whileSyncing(state: Syncing, event: WorkerEvent): WorkerState {
  const { pod, awaits } = state;
  switch (event.type) {
    case "update": {
      const begun = begin(event.pod);
      return begun.at === "syncing" && awaits ? { ...begun, awaits } : begun;
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
      const updated = afterwards(state, event);
      // Whoever is deleted may have less time, never more.
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
      return afterwards(state, event);
  }
}

/** What sources say of a pod whose end has begun. */
function afterwards<S extends Terminating | Terminated>(state: S, event: WorkerEvent): S {
  if (event.type === "removed") {
    const { restartWith: _, ...rest } = state;
    return { ...(rest as S), orphaned: true };
  }
  if (event.type !== "update") return state;
  return state.orphaned ? { ...state, restartWith: event.pod } : { ...state, pod: event.pod };
}

/** Where a pod stands that is seen for the first time. */
export function begin(pod: Pod): WorkerState {
  if (isDeleted(pod))
    return { at: "terminating", pod, graceSeconds: graceOf(pod), reason: { kind: "deleted" } };
  if (isFinished(pod))
    return { at: "terminating", pod, graceSeconds: graceOf(pod), reason: { kind: "finished" } };
  return { at: "syncing", pod };
}
