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

test("labels in another order keep their order", () => {
  const shared = new SharedLabels();
  shared.of({ a: "1", b: "2" });
  assert.deepEqual(Object.keys(shared.of({ b: "2", a: "1" })), ["b", "a"]);
});

test("long labels are not held", () => {
  const shared = new SharedLabels();
  const long = (): Record<string, string> =>
    Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`label-${at}`, "a-value-of-some-length"]));
  const first = shared.of(long());
  assert.notEqual(shared.of(long()), first);
});
