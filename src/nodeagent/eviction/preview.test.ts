import assert from "node:assert/strict";
import { test } from "node:test";
import { parseQuantity } from "#base";
import { measuredPod } from "./eviction.fixture.ts";
import { previewJson } from "./preview.ts";
import { parseThresholds } from "./thresholds.ts";

test("a preview contains signals, thresholds and the order of pods with the values that rank them", () => {
  const nothing = { soft: {}, softGrace: {}, minimumReclaim: {}, enforcePods: false };
  const thresholds = parseThresholds({ ...nothing, hard: { "memory.available": "1Gi" } });
  const observed = { available: parseQuantity("512Mi"), capacity: parseQuantity("4Gi"), at: 1 };
  const pods = [measuredPod({ name: "a", memory: "10Mi", workingSet: "20Mi", priority: 5 })];
  const text = previewJson(
    {
      observations: new Map([["memory.available", observed]]),
      thresholds,
      met: thresholds,
      pressures: ["MemoryPressure"],
      order: new Map([["memory.available", pods]]),
    },
    false,
  );
  assert.deepEqual(JSON.parse(text), {
    pressures: ["MemoryPressure"],
    signals: [
      {
        signal: "memory.available",
        available: "512Mi",
        capacity: "4Gi",
        thresholds: [{ kind: "hard", quantity: "1Gi", graceSeconds: 0, met: true }],
        order: [{ pod: "default/a", priority: 5, used: 20 * 1024 ** 2, requested: 10 * 1024 ** 2 }],
      },
    ],
  });
});
