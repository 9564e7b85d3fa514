import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { TimeSlice } from "./time-slice.ts";

test("long tasks take turns: each turn of the event loop runs one slice of one task", async () => {
  const slices: string[] = [];
  const piece = async (name: string): Promise<void> => {
    const work = new TimeSlice();
    for (let slice = 0; slice < 3; slice++) {
      await work.yield();
      slices.push(name);
    }
  };
  const all = Promise.all(["a", "b", "c"].map(piece));
  for (let turn = 1; turn <= 9; turn++) {
    await nextTurn();
    assert.ok(slices.length <= turn, `${slices.length} slices in ${turn} turns`);
  }
  await all;
  assert.equal(slices.join(""), "abcabcabc");
});

test("tasks with a waiting caller precede background tasks, which still get one turn in eight", async () => {
  const slices: string[] = [];
  const piece = async (name: string, work: TimeSlice, length: number): Promise<void> => {
    for (let slice = 0; slice < length; slice++) {
      await work.yield();
      slices.push(name);
    }
  };
  await Promise.all([
    piece("b", new TimeSlice("background"), 4),
    piece("w", new TimeSlice(), 10),
    piece("w", new TimeSlice(), 10),
  ]);
  const order = slices.join("");
  assert.match(order, /^w{0,7}(bw{7})+(bw{0,7})?b*$/, order);
});

test("a background task that gets a waiting caller is promoted", async () => {
  const slices: string[] = [];
  const promoted = new TimeSlice("background");
  const piece = async (name: string, work: TimeSlice): Promise<void> => {
    await work.yield();
    slices.push(name);
  };
  const all = Promise.all([
    piece("background", new TimeSlice("background")),
    piece("background", new TimeSlice("background")),
    piece("promoted", promoted),
  ]);
  promoted.promote();
  await all;
  assert.equal(slices.indexOf("promoted") < slices.lastIndexOf("background"), true, slices.join());
});

test("small steps yield only once a slice is used up", (t) => {
  let now = 0;
  t.mock.method(performance, "now", () => now);
  const work = new TimeSlice();
  const ticks = Array.from({ length: 100 }, () => work.tick());
  assert.ok(!ticks.includes(true));
  now = 5;
  let steps = 0;
  while (!work.tick()) steps++;
  assert.ok(steps < 16);
});
