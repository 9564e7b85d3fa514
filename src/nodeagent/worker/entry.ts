// One pod of the node as its driver keeps it, and what the driver's actions share.
import type { Pod, PodStatus } from "#api";
import { nameOf, namespaceOf, uidOf } from "../pod.ts";
import type { PodAdmission, PodMetrics } from "../interfaces.ts";
import type { StatusWriter } from "../status/writer.ts";
import type { PodMemory, SyncContext } from "../sync/context.ts";
import type { Worker } from "./worker.ts";

/** Where the pod is in its life, its worker's state says; here is what was found and done last. */
export interface PodEntry {
  readonly worker: Worker;
  readonly memory: PodMemory;
  /** What we found last. */
  status: PodStatus | undefined;
  /** What came of the last action: known when it ran to its end and what it changed was looked at. */
  outcome: "none yet" | "known" | "unknown";
  refreshedAt: number;
  /** Milliseconds until a restarted container counts as running. */
  holdMilliseconds: number;
}

export interface PodWorkersOptions {
  readonly context: SyncContext;
  readonly admission: PodAdmission;
  readonly runtimeName: () => string;
  /** Undefined when there is no API server. */
  readonly writer: StatusWriter | undefined;
  /** The object in the API server that stands for a static pod. */
  readonly mirrorOf: (pod: Pod) => Pod | undefined;
  readonly syncMilliseconds: number;
  readonly tally?: PodMetrics;
  /** Puts a trace around the sync of a pod. */
  readonly traced?: <T>(pod: Pod, run: () => Promise<T>) => Promise<T>;
  /** Told when a pod is gone from this node. */
  readonly onGone?: (pod: Pod) => void;
}

/** The pods of the node by uid. */
export type PodEntries = ReadonlyMap<string, PodEntry>;

export const podOf = (entry: PodEntry): Pod => entry.worker.state().pod;

export const isOrphaned = ({ worker }: PodEntry): boolean => {
  const state = worker.state();
  return state.at !== "syncing" && state.orphaned === true;
};

/** Whether a pod runs, or may, that takes no room from others: nobody asks for it, or it was turned away. */
export const isUncounted = (entry: PodEntry): boolean => {
  const state = entry.worker.state();
  const isRejected = state.at === "terminating" && state.reason.kind === "ended" && state.reason.rejected;
  return isOrphaned(entry) || isRejected === true;
};

export const isCleared = ({ worker }: PodEntry): boolean => {
  const state = worker.state();
  return state.at === "terminated" && state.cleared === true;
};

/** The name by which the pod cache knows a pod. */
export const podName = (pod: Pod) => ({ uid: uidOf(pod), name: nameOf(pod), namespace: namespaceOf(pod) });
