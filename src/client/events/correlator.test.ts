import assert from "node:assert/strict";
import { test } from "node:test";
import { correlator } from "./correlator.ts";

test("a recorder without events does not allocate its caches", () => {
  const before = process.memoryUsage().arrayBuffers;
  const all = Array.from({ length: 100 }, () => correlator({ aggregates: true }));
  assert.ok(process.memoryUsage().arrayBuffers - before < 1_000_000);
  const occurrence = { regarding: { name: "a" }, type: "Normal", reason: "R", message: "m", at: 1 } as const;
  assert.equal(all[0]!(occurrence).do, "send");
  const again = all[0]!(occurrence);
  assert.ok(again.do === "send" && again.event.count === 2);
});
