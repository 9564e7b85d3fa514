import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLog, virtualClock } from "#base";
import { fakeRuntime } from "#cri";
import { GrpcError } from "#http";
import { container, observed, samplePod } from "../pod.fixture.ts";
import { type DeadLimits, collectDeadContainers, surplusOfNode, surplusOfPod } from "./dead-containers.ts";
import type { ObservedPod } from "./observed.ts";

const pod = samplePod({ containers: [{ name: "a" }, { name: "b" }] });
/**
 * `a3 exited 1` is container a, the fourth of its name, created at second 3. Newest first, as in the cache.
 */
const seen = (uid: string, ...lines: string[]): ObservedPod => ({
  ...observed(
    lines.map((description) => {
      const [, name = "", restarts = "", state = ""] = /^([a-z])(\d+) (.+)$/.exec(description)!;
      return container(pod, name, state, {
        restarts: Number(restarts),
        id: `${uid}.${name}${restarts}`,
        createdAt: Number(restarts) * 1000,
      });
    }),
  ),
  uid,
});
const limits = (more: Partial<DeadLimits>): DeadLimits => ({
  perContainer: 1,
  total: -1,
  ageMilliseconds: 0,
  ...more,
});
const now = 100_000;

const ofPod: [name: string, more: Partial<DeadLimits>, containers: string[], gone: string[]][] = [
  [
    "one dead instance of each name is kept",
    {},
    ["a3 running", "a2 exited 1", "a1 exited 1", "b1 exited 0", "b0 exited 0"],
    ["a1", "b0"],
  ],
  [
    "more are kept with a higher limit",
    { perContainer: 2 },
    ["a3 exited 0", "a2 exited 1", "a1 exited 1"],
    ["a1"],
  ],
  ["a negative limit keeps all", { perContainer: -1 }, ["a3 exited 0", "a2 exited 1", "a1 exited 1"], []],
  [
    "the newest is kept for its exit status even with a limit of 0",
    { perContainer: 0 },
    ["a1 exited 1", "a0 exited 1"],
    ["a0"],
  ],
  [
    "containers younger than the minimum age are kept",
    { ageMilliseconds: 98_500 },
    ["a3 exited 1", "a2 exited 1", "a1 exited 1"],
    ["a1"],
  ],
];
for (const [name, more, containers, expected] of ofPod) {
  test(name, () =>
    assert.deepEqual(
      surplusOfPod(seen("p", ...containers), limits(more), now).map(({ id }) => id.slice(2)),
      expected,
    ),
  );
}

const ofNode: [name: string, more: Partial<DeadLimits>, gone: string[]][] = [
  [
    "a negative total limit means none: only containers above the limit per name are removed",
    { total: -1 },
    ["live.a1"],
  ],
  ["above the total limit the oldest are removed first", { total: 3 }, ["live.a1", "over.b0"]],
  [
    "the newest containers of live pods are kept, however low the total limit",
    { total: 0 },
    ["live.a1", "live.a2", "over.a5", "over.b0"],
  ],
  [
    "young containers are kept, however low the total limit",
    { total: 0, ageMilliseconds: 96_000 },
    ["live.a1", "live.a2", "over.b0"],
  ],
];
for (const [name, more, expected] of ofNode) {
  test(name, () => {
    const pods = [
      seen("live", "a3 running", "a2 exited 1", "a1 exited 1", "b2 exited 0"),
      seen("over", "a5 exited 0", "b0 exited 0"),
    ];
    const found = surplusOfNode(pods, limits(more), now, (uid) => uid === "over").map(({ id }) => id);
    assert.deepEqual(found.toSorted(), expected);
  });
}

test("the node's containers are collected every minute, and a failure to list them is reported", async () => {
  const clock = virtualClock();
  const runtime = fakeRuntime({ clock });
  const removed: string[] = [];
  runtime.removeContainer = async (id) => void removed.push(id);
  const removedLogs: string[] = [];
  const stop = new AbortController();
  const failures: string[] = [];
  const options = {
    clock,
    log: silentLog,
    runtime,
    files: { removeLog: async (path: string) => void removedLogs.push(path) },
    pods: () => [seen("p", "a1 exited 1", "a0 exited 1")],
    isOver: () => true,
    onFailure: (message: string) => void failures.push(message),
  };
  const rounds = collectDeadContainers({ ...options, limits: limits({ total: 1 }) }, stop.signal);
  await clock.advance(59_000);
  assert.deepEqual(removed, []);
  await clock.advance(1000);
  assert.deepEqual(removed, ["p.a0"]);
  assert.equal(removedLogs.length, 1, "its log is removed, too");
  runtime.faults.fail("ListContainers", new GrpcError("UNAVAILABLE", "no socket"));
  await clock.advance(60_000);
  assert.deepEqual([removed, failures], [["p.a0"], ["rpc error: code = Unavailable desc = no socket"]]);
  stop.abort();
  await rounds;
});
