import assert from "node:assert/strict";
import { test } from "node:test";
import { createMetrics } from "#base";
import type { Plugin } from "./framework.ts";
import type { SeenNode, SeenPod } from "./node-info.ts";
import { findNode } from "./placement.ts";
import { pluginMetrics } from "./plugin-metrics.ts";
import { snapshotOf } from "./snapshot.fixture.ts";

const node = (name: string) =>
  ({
    metadata: { name },
    spec: {},
    status: { allocatable: { cpu: "4", pods: "10" } },
  }) as unknown as SeenNode;
const pod = {
  metadata: { name: "p", namespace: "default", uid: "u" },
  spec: { containers: [] },
  status: {},
} as unknown as SeenPod;

/** Rejects the node "a" and prefers later names. */
const picky: Plugin = {
  name: "Picky",
  requeueEvents: [],
  view: () => ({
    filter: ({ name }) =>
      name === "a" ? { plugin: "Picky", reasons: ["not a"], isFinal: false } : undefined,
  }),
  scorer: () => ({ score: ({ name }) => name.charCodeAt(0), normalize: () => undefined }),
};
/** Has nothing to do for any pod. */
const idle: Plugin = { name: "Idle", requeueEvents: [], view: () => ({}), scorer: () => undefined };
const filterOnly: Plugin = { name: "NodeName", requeueEvents: [], view: () => ({ filter: () => undefined }) };
const refusing: Plugin = {
  name: "Refusing",
  requeueEvents: [],
  view: () => ({ rejectsPod: { plugin: "Refusing", reasons: ["never"], isFinal: true } }),
};

/** Schedules the pod on a clock that advances by a millisecond with each reading. */
function place(plugins: readonly Plugin[], isSampled: boolean) {
  const metrics = createMetrics();
  let reads = 0;
  const cycle = pluginMetrics(metrics, () => reads++).cycle("default-scheduler", isSampled);
  const snapshot = snapshotOf(["a", "b", "c"].map((name) => [node(name), []]));
  const found = findNode(pod, snapshot, { plugins, nominated: new Map(), random: () => 0, cycle });
  const lines = metrics.expose().split("\n");
  return { found, reads, lines, has: (line: string) => assert.ok(lines.includes(line), line) };
}
const point = (name: string, status: string, field = "count"): string =>
  `scheduler_framework_extension_point_duration_seconds_${field}{extension_point="${name}",profile="default-scheduler",status="${status}"}`;
const execution = (name: string, plugin: string, status: string): string =>
  `scheduler_plugin_execution_duration_seconds_count{extension_point="${name}",plugin="${plugin}",status="${status}"}`;
const evaluation = (name: string, plugin: string): string =>
  `scheduler_plugin_evaluation_total{extension_point="${name}",plugin="${plugin}",profile="default-scheduler"}`;

test("extension points are measured once per cycle, without timing plugins in cycles that are not sampled", () => {
  const { found, reads, lines, has } = place([filterOnly, picky, idle], false);
  assert.equal(found.node?.name, "c");
  for (const name of ["PreFilter", "Filter", "PreScore", "Score"]) has(`${point(name, "Success")} 1`);
  has(`${point("Filter", "Success", "sum")} 0.001`);
  assert.equal(reads, 8);
  assert.deepEqual(
    lines.filter((line) => line.startsWith("scheduler_plugin_execution")),
    [],
  );
});

test("plugins are counted once per prefilter and once per filtered node, unless they skip the pod", () => {
  const { lines } = place([filterOnly, picky, idle], false);
  assert.deepEqual(
    lines.filter((line) => line.startsWith("scheduler_plugin_evaluation_total")),
    [
      `${evaluation("Filter", "NodeName")} 3`,
      `${evaluation("Filter", "Picky")} 3`,
      `${evaluation("PreFilter", "Picky")} 1`,
    ],
  );
});

test("in a sampled cycle every call of a plugin is timed by its status", () => {
  const { lines } = place([filterOnly, picky, idle], true);
  assert.deepEqual(
    lines.filter((line) => line.startsWith("scheduler_plugin_execution_duration_seconds_count")),
    [
      `${execution("Filter", "NodeName", "Success")} 3`,
      `${execution("Filter", "Picky", "Success")} 2`,
      `${execution("Filter", "Picky", "Unschedulable")} 1`,
      `${execution("PreFilter", "Idle", "Skip")} 1`,
      `${execution("PreFilter", "Picky", "Success")} 1`,
      `${execution("PreScore", "Idle", "Skip")} 1`,
      `${execution("PreScore", "Picky", "Success")} 1`,
      `${execution("Score", "Picky", "Success")} 2`,
      `${execution("ScoreExtensionNormalize", "Picky", "Success")} 1`,
    ],
  );
});

test("a pod that a prefilter rejects is not filtered", () => {
  const { lines, has } = place([refusing, picky], true);
  has(`${point("PreFilter", "UnschedulableAndUnresolvable")} 1`);
  has(`${execution("PreFilter", "Refusing", "UnschedulableAndUnresolvable")} 1`);
  assert.ok(!lines.some((line) => line.includes('extension_point="Filter",profile=')));
});

test("the buckets are those of the original", () => {
  const { has } = place([picky], true);
  has(point("Filter", "Success", "bucket").replace("}", ',le="0.2048"} 1'));
  has(execution("Filter", "Picky", "Success").replace("_count", "_bucket").replace("}", ',le="1e-05"} 0'));
});
