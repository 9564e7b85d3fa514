import assert from "node:assert/strict";
import { test } from "node:test";
import { createMetrics } from "#base";
import { workMetrics } from "./work-metrics.ts";

test("work is counted while it runs and when it has ended", async () => {
  const metrics = createMetrics();
  const work = workMetrics(metrics);
  const { promise, resolve } = Promise.withResolvers<number>();
  const running = work("roles", () => promise);
  assert.match(metrics.expose(), /workqueue_unfinished_work_seconds\{name="roles"\} \d/);
  assert.match(
    metrics.expose(),
    /workqueue_work_duration_seconds_count\{name="roles"\} 0|^(?!.*work_duration)/s,
  );
  assert.match(metrics.expose(), /workqueue_retries_total\{name="roles"\} 0\n/);
  resolve(7);
  assert.equal(await running, 7);
  assert.match(metrics.expose(), /workqueue_unfinished_work_seconds\{name="roles"\} 0\n/);
  assert.match(metrics.expose(), /workqueue_work_duration_seconds_count\{name="roles"\} 1\n/);
});

test("failed work is counted as a retry", async () => {
  const metrics = createMetrics();
  await assert.rejects(workMetrics(metrics)("roles", () => Promise.reject(new Error("no"))));
  assert.match(metrics.expose(), /workqueue_retries_total\{name="roles"\} 1\n/);
});
