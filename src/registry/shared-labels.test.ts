import assert from "node:assert/strict";
import { test } from "node:test";
import { SharedLabels } from "./shared-labels.ts";

test("equal labels in the same order are held once", () => {
  const shared = new SharedLabels();
  const first = shared.of({ a: "1", b: "2" });
  assert.equal(shared.of({ a: "1", b: "2" }), first);
  const reversed = shared.of({ b: "2", a: "1" });
  assert.deepEqual(Object.keys(reversed), ["b", "a"]);
});

test("long labels are not held", () => {
  const shared = new SharedLabels();
  const long = (): Record<string, string> =>
    Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`label-${at}`, "a-value-of-some-length"]));
  const first = shared.of(long());
  assert.notEqual(shared.of(long()), first);
});
