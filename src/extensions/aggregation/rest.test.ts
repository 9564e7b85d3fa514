import assert from "node:assert/strict";
import { test } from "node:test";
import { type Clock, systemClock } from "#base";
import { Rest } from "./rest.ts";

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

test("a pause without a time sets no timer, and ends when somebody calls for the next round", async () => {
  const { clock, waiting } = countingClock();
  const rest = new Rest();
  const over = rest.over(Infinity, clock, new AbortController().signal);
  assert.deepEqual(waiting, []);
  rest.end();
  await over;
});

test("a pause ends when its time is over, and keeps no timer", async () => {
  const { clock, waiting } = countingClock();
  const over = new Rest().over(700, clock, new AbortController().signal);
  assert.deepEqual(
    waiting.map(({ milliseconds }) => milliseconds),
    [700],
  );
  waiting[0]!.run();
  await over;
  assert.deepEqual(waiting, []);
});

test("what called during a round ends the pause after it at once", async () => {
  const rest = new Rest();
  rest.begin();
  rest.end();
  await rest.over(Infinity, countingClock().clock, new AbortController().signal);
});

test("the end of the whole ends the pause", async () => {
  const stopping = new AbortController();
  const over = new Rest().over(Infinity, countingClock().clock, stopping.signal);
  stopping.abort();
  await over;
});
