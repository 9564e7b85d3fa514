import assert from "node:assert/strict";
import { test } from "node:test";
import { createMetrics } from "./metrics.ts";
import { queueMetrics } from "./queue-metrics.ts";

test("a queue exposes its depth, unfinished work, durations and retries", () => {
  const metrics = createMetrics();
  let now = 1000;
  const queue = queueMetrics(metrics, () => now)("jobs");
  const valueOf = (family: string): string | undefined =>
    new RegExp(`^workqueue_${family}\\{name="jobs"\\} (\\S+)$`, "m").exec(metrics.expose())?.[1];
  assert.deepEqual(
    ["depth", "retries_total", "unfinished_work_seconds"].map(valueOf),
    ["0", "0", "0"],
    "before anything happens",
  );
  for (const _ of ["a", "b", "c"]) queue.added();
  assert.equal(valueOf("depth"), "3");
  const endA = queue.started(0.5, 2);
  now += 2000;
  const endB = queue.started(2.5, 1);
  now += 1000;
  assert.deepEqual(
    ["depth", "adds_total", "unfinished_work_seconds", "longest_running_processor_seconds"].map(valueOf),
    ["1", "3", "4", "3"],
  );
  endA();
  assert.deepEqual(["unfinished_work_seconds", "longest_running_processor_seconds"].map(valueOf), ["1", "1"]);
  endB();
  queue.retried();
  assert.deepEqual(
    [
      "unfinished_work_seconds",
      "work_duration_seconds_sum",
      "work_duration_seconds_count",
      "queue_duration_seconds_sum",
      "retries_total",
    ].map(valueOf),
    ["0", "4", "2", "3", "1"],
  );
});
