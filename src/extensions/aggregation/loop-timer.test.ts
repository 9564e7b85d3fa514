import assert from "node:assert/strict";
import { test } from "node:test";
import { type Clock, systemClock } from "#base";
import { LoopTimer } from "./loop-timer.ts";

/** A clock that records the delays it was asked for and ends them on request. */
function countingClock(): { clock: Clock; waiting: { milliseconds: number; run: () => void }[] } {
  const waiting: { milliseconds: number; run: () => void }[] = [];
  const after: Clock["after"] = (milliseconds, run) => {
    const timer = { milliseconds, run };
    waiting.push(timer);
    return () => void waiting.splice(waiting.indexOf(timer), 1);
  };
  return { clock: { ...systemClock, after }, waiting };
}

test("a pause without a delay sets no timer, and ends when the next round is triggered", async () => {
  const { clock, waiting } = countingClock();
  const timer = new LoopTimer();
  const over = timer.wait(Infinity, clock, new AbortController().signal);
  assert.deepEqual(waiting, []);
  timer.wake();
  await over;
});

test("a pause ends after its delay, and leaves no timer", async () => {
  const { clock, waiting } = countingClock();
  const over = new LoopTimer().wait(700, clock, new AbortController().signal);
  assert.deepEqual(
    waiting.map(({ milliseconds }) => milliseconds),
    [700],
  );
  waiting[0]!.run();
  await over;
  assert.deepEqual(waiting, []);
});

test("a trigger during a round ends the following pause immediately", async () => {
  const timer = new LoopTimer();
  timer.reset();
  timer.wake();
  await timer.wait(Infinity, countingClock().clock, new AbortController().signal);
});

test("an abort ends the pause", async () => {
  const stopping = new AbortController();
  const over = new LoopTimer().wait(Infinity, countingClock().clock, stopping.signal);
  stopping.abort();
  await over;
});
