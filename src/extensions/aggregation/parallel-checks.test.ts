import assert from "node:assert/strict";
import { test } from "node:test";
import { ParallelChecks } from "./parallel-checks.ts";

/** Checks that end on request, and the names of those that were started. */
function heldChecks(limit: number) {
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  let ended = 0;
  const checks = new ParallelChecks(limit, () => void ended++);
  const start = (name: string): void =>
    checks.start(name, async () => {
      started.push(name);
      await new Promise<void>((resolve) => ends.set(name, resolve));
    });
  return { checks, started, start, end: (name: string) => ends.get(name)!(), ended: () => ended };
}

test("as many checks as the limit run at the same time, and another one when one has ended", async () => {
  const { checks, started, start, end, ended } = heldChecks(2);
  for (const name of ["a", "b", "c"]) start(name);
  assert.deepEqual(started, ["a", "b"]);
  end("b");
  await new Promise(setImmediate);
  assert.deepEqual([ended(), checks.has("a"), checks.has("b")], [1, true, false]);
  start("c");
  assert.deepEqual(started, ["a", "b", "c"]);
});

test("a check is not started while it is in progress", async () => {
  const { checks, started, start, end } = heldChecks(2);
  start("a");
  start("a");
  assert.deepEqual(started, ["a"]);
  end("a");
  await checks.ended();
  start("a");
  assert.deepEqual(started, ["a", "a"]);
});
