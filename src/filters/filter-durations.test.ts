import assert from "node:assert/strict";
import { test } from "node:test";
import { createMetrics } from "#base";
import { apiCall } from "#kit";
import type { Filter } from "./filter.ts";
import { filterDurations } from "./filter-durations.ts";

const ok = { status: 200, headers: {} };

async function counted(filter: Filter): Promise<string> {
  const metrics = createMetrics();
  await filterDurations(metrics)(filter).run(apiCall(), async () => ok);
  return metrics.expose();
}

test("a filter that passes a request on is measured, under the reference's name", async () => {
  const text = await counted({ name: "priority and fairness", run: (_call, next) => next() });
  assert.match(text, /_count\{filter="priorityandfairness"\} 1/);
});

test("a filter that answers a request is not measured", async () => {
  const text = await counted({ name: "authorization", run: async () => ok });
  assert.match(text, /_count\{filter="authorization"\} 0/);
});
