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
  readonly disruption?: { readonly reason: string; readonly message: string };
}

export type WorkerState =
  | { readonly at: "syncing"; readonly pod: Pod }
  | {
      readonly at: "terminating";
      readonly pod: Pod;
      readonly graceSeconds: number;
      readonly reason: StopReason;
    }
  | { readonly at: "terminated"; readonly pod: Pod; readonly reason: StopReason };

export type WorkerEvent =
  | { readonly type: "update"; readonly pod: Pod }
  | { readonly type: "stop"; readonly reason: StopReason; readonly graceSeconds?: number }
  /** All its containers have ended. */
  | { readonly type: "stopped" };

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
      if (event.type === "update") return begin(event.pod);
      if (event.type === "stop")
        return {
          at: "terminating",
          pod: state.pod,
          graceSeconds: Math.max(1, event.graceSeconds ?? graceOf(state.pod)),
          reason: event.reason,
        };
      return state;
    case "terminating":
      if (event.type === "update")
        return {
          ...state,
          pod: event.pod,
          graceSeconds: isDeleted(event.pod)
            ? Math.min(state.graceSeconds, graceOf(event.pod))
            : state.graceSeconds,
        };
      if (event.type === "stop")
        return {
          ...state,
          graceSeconds: Math.min(state.graceSeconds, Math.max(1, event.graceSeconds ?? state.graceSeconds)),
        };
      return { at: "terminated", pod: state.pod, reason: state.reason };
    case "terminated":
      return event.type === "update" ? { ...state, pod: event.pod } : state;
  }
}

/** Where a pod stands that is seen for the first time. */
export function begin(pod: Pod): WorkerState {
  if (isDeleted(pod))
    return { at: "terminating", pod, graceSeconds: graceOf(pod), reason: { kind: "deleted" } };
  if (isFinished(pod))
    return { at: "terminating", pod, graceSeconds: graceOf(pod), reason: { kind: "finished" } };
  return { at: "syncing", pod };
}
