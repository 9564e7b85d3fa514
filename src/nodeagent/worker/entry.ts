// The per-pod record of the pod workers, and the options shared by their actions.
import type { Pod, PodStatus } from "#api";
import { nameOf, namespaceOf, uidOf } from "../pod.ts";
import type { PodAdmission, PodMetrics } from "../interfaces.ts";
import type { StatusWriter } from "../status/writer.ts";
import type { PodMemory, SyncContext } from "../sync/context.ts";
import type { Worker } from "./worker.ts";

/** A pod's lifecycle state is held by its worker; this record holds what was last observed and done. */
export interface PodEntry {
  readonly worker: Worker;
  readonly memory: PodMemory;
  /** The last computed status. */
  status: PodStatus | undefined;
  /** Result of the last action: "known" once it completed and the state it changed was observed again. */
  outcome: "none yet" | "known" | "unknown";
  /** When the pod's volumes were refreshed, by the monotonic clock. */
  refreshedAt: number;
  /** Milliseconds until a restarted container counts as running. */
  holdMilliseconds: number;
}

export interface PodWorkersOptions {
  readonly context: SyncContext;
  readonly admission: PodAdmission;
  readonly runtimeName: () => string;
  /** Undefined without an API server. */
  readonly writer: StatusWriter | undefined;
  /** Returns the mirror pod of a static pod. */
  readonly mirrorOf: (pod: Pod) => Pod | undefined;
  readonly syncMilliseconds: number;
  readonly podMetrics?: PodMetrics;
  /** Wraps the sync of a pod in a trace span. */
  readonly traced?: <T>(pod: Pod, run: () => Promise<T>) => Promise<T>;
  /** Called when a pod has been removed from this node. */
  readonly onRemoved?: (pod: Pod) => void;
}

/** The pods of the node by uid. */
export type PodEntries = ReadonlyMap<string, PodEntry>;

export const podOf = (entry: PodEntry): Pod => entry.worker.state().pod;

export const isOrphaned = ({ worker }: PodEntry): boolean => {
  const state = worker.state();
  return state.at !== "syncing" && state.orphaned === true;
};

/**
 * Reports whether a pod that may still run does not count against the node's capacity: it is orphaned or
 * rejected.
 */
export const isUncounted = (entry: PodEntry): boolean => {
  const state = entry.worker.state();
  const isRejected = state.at === "terminating" && state.reason.kind === "ended" && state.reason.rejected;
  return isOrphaned(entry) || isRejected === true;
};

export const isCleared = ({ worker }: PodEntry): boolean => {
  const state = worker.state();
  return state.at === "terminated" && state.cleared === true;
};

/** Returns the key of a pod in the pod cache. */
export const podName = (pod: Pod) => ({ uid: uidOf(pod), name: nameOf(pod), namespace: namespaceOf(pod) });
