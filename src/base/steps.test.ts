import assert from "node:assert/strict";
import { test } from "node:test";
import { type Steps, finishSteps, runSteps } from "./steps.ts";

function* counted(upTo: number, milliseconds = 0): Steps<number> {
  let at = 0;
  while (at < upTo) {
    for (const end = performance.now() + milliseconds; performance.now() < end;);
    at += 1;
    yield;
  }
  return at;
}

test("steps that finish within a slice return their result without a turn of the event loop", async (t) => {
  t.mock.method(performance, "now", () => 0);
  let turned = false;
  setImmediate(() => (turned = true));
  assert.equal(await runSteps(counted(100)), 100);
  assert.equal(turned, false);
});

test("steps that take longer than a slice let others run in between", async () => {
  let turns = 0;
  let done = false;
  const turn = (): void => {
    turns += 1;
    if (!done) setImmediate(turn);
  };
  setImmediate(turn);
  assert.equal(await runSteps(counted(64, 1)), 64);
  done = true;
  assert.ok(turns >= 3, `${turns} turns`);
});

test("steps end at a yield once their caller is gone", async () => {
  const caller = { signal: AbortSignal.abort(new Error("gone")) };
  await assert.rejects(runSteps(counted(64, 1), caller), /gone/);
});

test("steps can run synchronously", () => {
  assert.equal(finishSteps(counted(1000)), 1000);
});
