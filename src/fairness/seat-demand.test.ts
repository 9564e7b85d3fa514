import assert from "node:assert/strict";
import { test } from "node:test";
import { SeatDemand, smoothed } from "./seat-demand.ts";

test("demand is averaged over time, with the high watermark of the period", () => {
  const demand = new SeatDemand(0);
  demand.set(4, 1000);
  demand.set(0, 2000);
  assert.deepEqual(demand.reset(4000), { average: 1, deviation: Math.sqrt(3), highWatermark: 4 });
  assert.deepEqual(demand.reset(5000), { average: 0, deviation: 0, highWatermark: 0 });
});

test("smoothed demand rises immediately and decays slowly", () => {
  const [busy, idle] = [10, 0].map((average) => ({ average, deviation: 0, highWatermark: average }));
  assert.equal(smoothed(0, busy!), 10);
  let value = 10;
  for (let period = 0; period < 30; period++) value = smoothed(value, idle!);
  assert.ok(value > 4.5 && value < 5.5, `${value} after five minutes`);
});
