import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { AdmissionThrottle } from "./admission-throttle.ts";

test("a crowd is begun in order, a part in each turn of the event loop", async () => {
  const turns = new AdmissionThrottle();
  const begun: number[] = [];
  for (let i = 0; i < 200; i++) turns.begin(() => void begun.push(i));
  const sizes = [begun.length];
  while (begun.length < 200) {
    await nextTurn();
    sizes.push(begun.length);
  }
  assert.deepEqual(sizes, [64, 128, 192, 200]);
  assert.deepEqual(
    begun,
    Array.from({ length: 200 }, (_, i) => i),
  );
});

test("what comes one by one never waits", async () => {
  const turns = new AdmissionThrottle();
  let begun = 0;
  for (let i = 1; i <= 200; i++) {
    turns.begin(() => void begun++);
    assert.equal(begun, i);
    await nextTurn();
  }
});

test("what comes while a crowd waits stands behind it", async () => {
  const turns = new AdmissionThrottle();
  const begun: string[] = [];
  for (let i = 0; i < 130; i++) turns.begin(() => void begun.push("crowd"));
  await nextTurn();
  turns.begin(() => void begun.push("late"));
  while (begun.length < 131) await nextTurn();
  assert.equal(begun.at(-1), "late");
});
