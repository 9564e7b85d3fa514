// Writes pod statuses to the API server: only changed fields, the newest status of each pod, one request per
// pod at a time.
import { Pod as PodKind, type Pod, type PodCondition, type PodStatus } from "#api";
import { ApiError, type Clock, type Log } from "#base";
import type { ApiClient, ResourceClient } from "#client";
import { isFinished, keyOf, nameOf, namespaceOf, uidOf } from "../pod.ts";
import { isOwnCondition } from "./conditions.ts";

export interface StatusWriter {
  /** Queues a status for writing. `pod` is the object in the API server: for a static pod its mirror pod. */
  write(pod: Pod, status: PodStatus): void;
  /** Resolves once every status queued for this pod has been written, or the object has been deleted. */
  settled(uid: string): Promise<void>;
  /** Returns the status last written or queued, or the one in the API server. */
  published(pod: Pod): PodStatus;
  /** Writes fields again that another writer has changed since. */
  restore(pod: Pod): void;
  /** Deletes the object with grace period 0, after the pending status has been written. */
  remove(pod: Pod): Promise<void>;
  forget(uid: string): void;
}

interface Entry {
  pod: Pod;
  wanted: PodStatus | undefined;
  written: PodStatus | undefined;
  /** The resourceVersion after the last write. */
  version: string;
  running: Promise<void> | undefined;
  /** When the oldest unwritten status was queued. */
  wantedAt: number;
}

export interface StatusWriterOptions {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Called with the time a status waited until it was written. */
  readonly onWritten?: (milliseconds: number) => void;
}

const podResource = { schema: PodKind, plural: "pods", namespaced: true } as const;
const firstRetryMilliseconds = 500;
const lastRetryMilliseconds = 10_000;

export function statusWriter({ client, clock, log, signal, onWritten }: StatusWriterOptions): StatusWriter {
  const pods = client.of(podResource) as unknown as ResourceClient<Pod>;
  const entries = new Map<string, Entry>();
  const entryOf = (pod: Pod): Entry => {
    const uid = uidOf(pod);
    let entry = entries.get(uid);
    if (!entry)
      entries.set(
        uid,
        (entry = {
          pod,
          wanted: undefined,
          written: undefined,
          version: "",
          wantedAt: 0,
          running: undefined,
        }),
      );
    entry.pod = pod;
    return entry;
  };
  /** Returns the status the server holds: the last one written, unless the object was read later. */
  const serverStatusOf = ({ pod, written, version }: Entry): PodStatus =>
    written && !isLater(pod, version) ? written : (pod.status ?? {});

  async function run(entry: Entry): Promise<void> {
    for (let failures = 0; entry.wanted && !signal.aborted;) {
      const status = entry.wanted;
      const patch = statusPatch(entry.pod, serverStatusOf(entry), status);
      try {
        if (patch) {
          const { metadata } = await pods.patch(nameOf(entry.pod), "strategic", patch, {
            namespace: namespaceOf(entry.pod),
            subresource: "status",
          });
          entry.version = metadata.resourceVersion ?? "";
          onWritten?.(clock.monotonic() - entry.wantedAt);
        }
        entry.written = status;
        failures = 0;
        if (entry.wanted === status) entry.wanted = undefined;
      } catch (error) {
        if (isGone(error)) {
          entry.wanted = undefined;
          return;
        }
        if (error instanceof ApiError && (error.code === 422 || error.code === 400)) {
          log.error("pod status rejected by the API server", { pod: keyOf(entry.pod), error: error.message });
          if (entry.wanted === status) entry.wanted = undefined;
          return;
        }
        failures++;
        const wait = Math.min(firstRetryMilliseconds * 2 ** (failures - 1), lastRetryMilliseconds);
        await clock.sleep(wait, signal).catch(() => undefined);
      }
    }
  }

  const start = (entry: Entry): Promise<void> =>
    (entry.running ??= run(entry).finally(() => {
      entry.running = undefined;
    }));

  function write(pod: Pod, status: PodStatus): void {
    const entry = entryOf(pod);
    if (!entry.wanted && !entry.running && !statusPatch(pod, serverStatusOf(entry), status)) return;
    if (!entry.wanted) entry.wantedAt = clock.monotonic();
    entry.wanted = status;
    void start(entry);
  }

  return {
    write,
    settled: async (uid) => {
      const entry = entries.get(uid);
      while (entry?.running) await entry.running;
    },
    published: (pod) =>
      entries.get(uidOf(pod))?.wanted ?? entries.get(uidOf(pod))?.written ?? pod.status ?? {},
    restore: (pod) => {
      const entry = entries.get(uidOf(pod));
      if (!entry?.written || entry.running || !isLater(pod, entry.version) || isFinished(pod)) return;
      // Conditions of other writers are left alone.
      write(pod, {
        ...entry.written,
        // The API server sets `resize`, and the pod's next sync responds to it.
        ...(pod.status?.resize && { resize: pod.status.resize }),
        conditions: (entry.written.conditions ?? []).filter(({ type }) => isOwnCondition(type)),
      });
    },
    remove: async (pod) => {
      const entry = entries.get(uidOf(pod));
      while (entry?.running) await entry.running;
      try {
        await pods.delete(nameOf(pod), { namespace: namespaceOf(pod), graceSeconds: 0, uid: uidOf(pod) });
      } catch (error) {
        if (!isGone(error)) throw error;
      }
    },
    forget: (uid) => void entries.delete(uid),
  };
}

/** Reports whether the pod was deleted; another pod of the same name may exist with a different uid. */
const isGone = (error: unknown): boolean =>
  error instanceof ApiError &&
  (error.code === 404 ||
    error.code === 409 ||
    (error.code === 422 && error.details?.causes?.some(({ field }) => field === "metadata.uid") === true));

const isLater = (pod: Pod, version: string): boolean =>
  version !== "" && Number(pod.metadata.resourceVersion) > Number(version);

const ownedFields = [
  "phase",
  "message",
  "reason",
  "hostIP",
  "podIP",
  "startTime",
  "initContainerStatuses",
  "containerStatuses",
  "qosClass",
  "ephemeralContainerStatuses",
  "resize",
] as const;

/**
 * Returns the strategic merge patch from one status to another; undefined if they are equal. Guarded by the
 * pod's uid.
 */
export function statusPatch(pod: Pod, from: PodStatus, to: PodStatus): object | undefined {
  const changes: Record<string, unknown> = {};
  for (const key of ownedFields) if (!isSame(from[key], to[key])) changes[key] = to[key] ?? null;
  for (const key of ["podIPs", "hostIPs"] as const) {
    const [before, wanted] = [from[key] ?? [], to[key] ?? []];
    if (isSame(before, wanted) || (key === "hostIPs" && wanted.length === 0)) continue;
    const gone = before.filter(({ ip }) => !wanted.some((kept) => kept.ip === ip));
    changes[key] = [...wanted, ...gone.map(({ ip }) => ({ ip, $patch: "delete" }))];
    changes[`$setElementOrder/${key}`] = wanted;
  }
  const conditions = (to.conditions ?? []).filter(
    (condition) => !isSame(conditionOf(from, condition.type), condition),
  );
  if (conditions.length > 0)
    changes["conditions"] = conditions.map((condition) => ({
      ...missing(conditionOf(from, condition.type), condition),
      ...condition,
    }));
  if (Object.keys(changes).length === 0) return undefined;
  return { metadata: { uid: uidOf(pod) }, status: changes };
}

const conditionOf = (status: PodStatus, type: string): PodCondition | undefined =>
  status.conditions?.find((condition) => condition.type === type);
/** Conditions are merged by key, so a removed reason or message must be cleared explicitly. */
const missing = (from: PodCondition | undefined, to: PodCondition): object => ({
  ...(from?.reason && !to.reason && { reason: null }),
  ...(from?.message && !to.message && { message: null }),
});
const isSame = (a: unknown, b: unknown): boolean => isEqual(a ?? null, b ?? null);

/** Reports whether two values are equal as JSON, ignoring key order. */
function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (
    typeof a !== "object" ||
    typeof b !== "object" ||
    a === null ||
    b === null ||
    Array.isArray(a) !== Array.isArray(b)
  )
    return false;
  if (Array.isArray(a))
    return a.length === (b as unknown[]).length && a.every((item, at) => isEqual(item, (b as unknown[])[at]));
  const [one, other] = [a, b] as [Readonly<Record<string, unknown>>, Readonly<Record<string, unknown>>];
  const isDefined = (of: Readonly<Record<string, unknown>>, key: string): boolean => of[key] !== undefined;
  return (
    Object.keys(one).every((key) => isEqual(one[key], other[key])) &&
    Object.keys(other).every((key) => isDefined(one, key) || !isDefined(other, key))
  );
}
