import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pod } from "#api";
import {
  type StopReason,
  type Terminated,
  type Terminating,
  type WorkerEvent,
  type WorkerState,
  begin,
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
    "a changed pod goes on with its new form",
    { at: "syncing", pod },
    update(newer),
    { at: "syncing", pod: newer },
  ],
  ["a deleted pod starts to stop", { at: "syncing", pod }, update(deleted(7)), stopping(7, deleted(7))],
  ["a pod told to stop stops", { at: "syncing", pod }, stop(20), stopping(20)],
  [
    "without a word about grace the pod's own holds",
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
  ["grace is never less than a second", { at: "syncing", pod }, stop(-5), stopping(1)],
  ["grace of 0 is the pod's own", { at: "syncing", pod }, stop(0), stopping(graceOf(pod))],
  ["grace of 0 shortens nothing", stopping(5), stop(0), stopping(5)],
  [
    "a pod that cannot have what it was promised is over at once",
    { at: "syncing", pod },
    { type: "rejected", reason: "Evicted", message: "no room" },
    { at: "terminated", pod, reason: evicted },
  ],
  ["a pod whose containers have ended is terminated", stopping(3), { type: "stopped" }, over],
  ["nothing revives a terminated pod", over, update(newer), { ...over, pod: newer }],
  ["stopping a terminated pod is nothing", over, stop(1), over],
  [
    "a pod that no source has any more starts to stop",
    { at: "syncing", pod },
    { type: "removed" },
    { ...stopping(30, pod, { kind: "removed" }), orphaned: true },
  ],
  [
    "a pod that is put back while it stops begins anew afterwards",
    { ...stopping(3), orphaned: true },
    update(newer),
    { ...stopping(3), orphaned: true, restartWith: newer },
  ],
  [
    "a pod that is put back while its leftovers are removed, too",
    { ...over, orphaned: true },
    update(newer),
    { ...over, orphaned: true, restartWith: newer },
  ],
  [
    "one that is put back and taken away again stays away",
    { ...stopping(3), orphaned: true, restartWith: newer },
    { type: "removed" },
    { ...stopping(3), orphaned: true },
  ],
  [
    "what waits to begin again survives the end",
    { ...stopping(3), orphaned: true, restartWith: newer },
    { type: "stopped" },
    { ...over, orphaned: true, restartWith: newer },
  ],
  [
    "the first word about init containers counts",
    { ...stopping(3), wasInitialized: true },
    { type: "initialized", done: false },
    { ...stopping(3), wasInitialized: true },
  ],
  [
    "whoever waits for others still waits after a change",
    { at: "syncing", pod, awaits: ["x"] },
    update(newer),
    { at: "syncing", pod: newer, awaits: ["x"] },
  ],
  ["what is cleared is so for good", over, { type: "cleared" }, { ...over, cleared: true }],
  [
    "a running pod is not over because containers ended",
    { at: "syncing", pod },
    { type: "stopped" },
    { at: "syncing", pod },
  ],
];
for (const [name, from, event, to] of moves) test(name, () => assert.deepEqual(next(from, event), to));

const beginnings: [name: string, pod: Pod, at: WorkerState["at"]][] = [
  ["a fresh pod begins to run", pod, "syncing"],
  ["a pod found deleted begins to stop", deleted(1), "terminating"],
  ["a pod found failed begins to stop", podWith({}, {}, { phase: "Failed" }), "terminating"],
  ["a pod found succeeded begins to stop", podWith({}, {}, { phase: "Succeeded" }), "terminating"],
];
for (const [name, given, at] of beginnings) test(name, () => assert.equal(begin(given).at, at));

const graces: [name: string, pod: Pod, seconds: number][] = [
  ["thirty seconds without a word", pod, 30],
  ["the pod's own seconds", podWith({}, { terminationGracePeriodSeconds: 12 }), 12],
  [
    "the deletion's seconds before the pod's",
    podWith({ deletionTimestamp: "x", deletionGracePeriodSeconds: 2 }, { terminationGracePeriodSeconds: 12 }),
    2,
  ],
  ["at least one second", podWith({}, { terminationGracePeriodSeconds: 0 }), 1],
];
for (const [name, given, seconds] of graces)
  test(`grace is ${name}`, () => assert.equal(graceOf(given), seconds));
