import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualClock } from "#base";
import { type Expectations, expectations } from "./expectations.ts";

const cases: [name: string, run: (all: Expectations) => void, satisfied: boolean][] = [
  ["a key without expectations is satisfied", () => undefined, true],
  [
    "all expected creations must be observed",
    (all) => (all.expectCreations("k", 2), all.creationObserved("k")),
    false,
  ],
  ["observed creations satisfy", (all) => (all.expectCreations("k", 1), all.creationObserved("k")), true],
  [
    "a deletion observed twice counts once",
    (all) => (
      all.expectDeletions("k", ["a", "b"]),
      all.deletionObserved("k", "a"),
      all.deletionObserved("k", "a")
    ),
    false,
  ],
  [
    "observed deletions satisfy",
    (all) => (all.expectDeletions("k", ["a"]), all.deletionObserved("k", "a")),
    true,
  ],
  ["a forgotten key is satisfied", (all) => (all.expectCreations("k", 1), all.forget("k")), true],
];
for (const [name, run, satisfied] of cases)
  test(name, () => {
    const all = expectations(virtualClock());
    run(all);
    assert.equal(all.satisfied("k"), satisfied);
  });

test("expectations expire after five minutes", async () => {
  const clock = virtualClock();
  const all = expectations(clock);
  all.expectCreations("k", 1);
  await clock.advance(5 * 60_000);
  assert.equal(all.satisfied("k"), false);
  await clock.advance(1000);
  assert.equal(all.satisfied("k"), true);
});
