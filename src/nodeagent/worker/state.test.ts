import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pod } from "#api";
import {
  type StopReason,
  type Terminated,
  type Terminating,
  type WorkerEvent,
  type WorkerState,
  initialState,
  graceOf,
  next,
} from "./state.ts";

const podWith = (metadata: object = {}, spec: object = {}, status: object = {}): Pod =>
  ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "a", namespace: "n", uid: "u", ...metadata },
    spec: { containers: [], ...spec },
    status,
  }) as unknown as Pod;
const pod = podWith();
const newer = podWith({ labels: { a: "b" } });
const deleted = (seconds: number): Pod =>
  podWith({ deletionTimestamp: "2024-01-01T00:00:00Z", deletionGracePeriodSeconds: seconds });
const byUser: StopReason = { kind: "deleted" };
const evicted: StopReason = { kind: "ended", reason: "Evicted", message: "no room" };
const update = (to: Pod): WorkerEvent => ({ type: "update", pod: to });
const stop = (graceSeconds?: number, reason: StopReason = byUser): WorkerEvent => ({
  type: "stop",
  reason,
  ...(graceSeconds !== undefined && { graceSeconds }),
});
const stopping = (graceSeconds: number, of = pod, reason: StopReason = byUser): Terminating => ({
  at: "terminating",
  pod: of,
  graceSeconds,
  reason,
});
const over: Terminated = { at: "terminated", pod, reason: byUser };

const moves: [name: string, from: WorkerState, event: WorkerEvent, to: WorkerState][] = [
  [
    "an update of a syncing pod takes effect",
    { at: "syncing", pod },
    update(newer),
    { at: "syncing", pod: newer },
  ],
  ["a deleted pod starts terminating", { at: "syncing", pod }, update(deleted(7)), stopping(7, deleted(7))],
  ["a stop event starts termination", { at: "syncing", pod }, stop(20), stopping(20)],
  [
    "without a grace period in the event the pod's own applies",
    { at: "syncing", pod: podWith({}, { terminationGracePeriodSeconds: 4 }) },
    stop(),
    stopping(4, podWith({}, { terminationGracePeriodSeconds: 4 })),
  ],
  ["the reason of an eviction is kept", { at: "syncing", pod }, stop(2, evicted), stopping(2, pod, evicted)],
  ["a shorter grace period wins", stopping(30), stop(5), stopping(5)],
  ["a longer grace period is ignored", stopping(5), stop(30), stopping(5)],
  [
    "a second deletion with less grace shortens the first",
    stopping(30),
    update(deleted(3)),
    stopping(3, deleted(3)),
  ],
  [
    "a later deletion with more grace does not lengthen it",
    stopping(3),
    update(deleted(60)),
    stopping(3, deleted(60)),
  ],
  ["an update of a stopping pod does not revive it", stopping(3), update(newer), stopping(3, newer)],
  ["the first reason to stop is kept", stopping(3, pod, evicted), stop(3), stopping(3, pod, evicted)],
  ["the grace period is at least one second", { at: "syncing", pod }, stop(-5), stopping(1)],
  ["a grace period of 0 means the pod's own", { at: "syncing", pod }, stop(0), stopping(graceOf(pod))],
  ["a grace period of 0 does not shorten the current one", stopping(5), stop(0), stopping(5)],
  [
    "a rejected pod is terminated at once",
    { at: "syncing", pod },
    { type: "rejected", reason: "Evicted", message: "no room" },
    { at: "terminated", pod, reason: evicted },
  ],
  ["a pod whose containers have ended is terminated", stopping(3), { type: "stopped" }, over],
  ["nothing revives a terminated pod", over, update(newer), { ...over, pod: newer }],
  ["stopping a terminated pod has no effect", over, stop(1), over],
  [
    "a pod removed from its source starts terminating",
    { at: "syncing", pod },
    { type: "removed" },
    { ...stopping(30, pod, { kind: "removed" }), orphaned: true },
  ],
  [
    "a pod added again while it terminates is restarted afterwards",
    { ...stopping(3), orphaned: true },
    update(newer),
    { ...stopping(3), orphaned: true, restartWith: newer },
  ],
  [
    "a pod added again while it is cleaned up is restarted afterwards",
    { ...over, orphaned: true },
    update(newer),
    { ...over, orphaned: true, restartWith: newer },
  ],
  [
    "a pod added again and removed again is not restarted",
    { ...stopping(3), orphaned: true, restartWith: newer },
    { type: "removed" },
    { ...stopping(3), orphaned: true },
  ],
  [
    "a pending restart survives the end of termination",
    { ...stopping(3), orphaned: true, restartWith: newer },
    { type: "stopped" },
    { ...over, orphaned: true, restartWith: newer },
  ],
  [
    "the first initialized event counts",
    { ...stopping(3), wasInitialized: true },
    { type: "initialized", done: false },
    { ...stopping(3), wasInitialized: true },
  ],
  [
    "a pod that waits for others still waits after an update",
    { at: "syncing", pod, awaits: ["x"] },
    update(newer),
    { at: "syncing", pod: newer, awaits: ["x"] },
  ],
  ["the cleared mark is permanent", over, { type: "cleared" }, { ...over, cleared: true }],
  [
    "a stopped event does not end a syncing pod",
    { at: "syncing", pod },
    { type: "stopped" },
    { at: "syncing", pod },
  ],
];
for (const [name, from, event, to] of moves) test(name, () => assert.deepEqual(next(from, event), to));

const beginnings: [name: string, pod: Pod, at: WorkerState["at"]][] = [
  ["a new pod starts syncing", pod, "syncing"],
  ["a pod found deleted starts terminating", deleted(1), "terminating"],
  ["a pod found failed starts terminating", podWith({}, {}, { phase: "Failed" }), "terminating"],
  ["a pod found succeeded starts terminating", podWith({}, {}, { phase: "Succeeded" }), "terminating"],
];
for (const [name, given, at] of beginnings) test(name, () => assert.equal(initialState(given).at, at));

const graces: [name: string, pod: Pod, seconds: number][] = [
  ["thirty seconds by default", pod, 30],
  ["the pod's own seconds", podWith({}, { terminationGracePeriodSeconds: 12 }), 12],
  [
    "the deletion's seconds rather than the pod's",
    podWith({ deletionTimestamp: "x", deletionGracePeriodSeconds: 2 }, { terminationGracePeriodSeconds: 12 }),
    2,
  ],
  ["at least one second", podWith({}, { terminationGracePeriodSeconds: 0 }), 1],
];
for (const [name, given, seconds] of graces)
  test(`the grace period is ${name}`, () => assert.equal(graceOf(given), seconds));
