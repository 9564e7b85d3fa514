import assert from "node:assert/strict";
import { test } from "node:test";
import { SharedLabels } from "./shared-labels.ts";

test("equal labels are held once", () => {
  const shared = new SharedLabels();
  const first = shared.of({ app: "web", tier: "front" });
  assert.equal(shared.of({ app: "web", tier: "front" }), first);
  assert.notEqual(shared.of({ app: "web", tier: "back" }), first);
});

test("thousands of different labels stay different", () => {
  const shared = new SharedLabels();
  for (let at = 0; at < 10_000; at++) assert.deepEqual(shared.of({ at: String(at) }), { at: String(at) });
});
