import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualClock } from "#base";
import { ReplyBatch } from "./reply-batch.ts";

/** A batch in which the given number of exchanges have begun; a delivery settles its exchange. */
function batchOf(exchanges: number) {
  const clock = virtualClock();
  const batch = new ReplyBatch(clock);
  const delivered: string[] = [];
  for (let at = 0; at < exchanges; at++) batch.begin();
  const reply = (name: string): void =>
    batch.add(() => {
      batch.settle();
      delivered.push(name);
    });
  return { clock, batch, delivered, reply };
}

test("a single reply is delivered at once", () => {
  const { delivered, reply } = batchOf(1);
  reply("a");
  assert.deepEqual(delivered, ["a"]);
});

test("replies wait for those of other exchanges", () => {
  const { delivered, reply } = batchOf(2);
  reply("a");
  assert.deepEqual(delivered, []);
  reply("b");
  assert.deepEqual(delivered, ["a", "b"]);
});

test("a slow exchange holds the others for one millisecond", async () => {
  const { clock, delivered, reply } = batchOf(3);
  reply("a");
  await clock.advance(0.5);
  reply("b");
  assert.deepEqual(delivered, []);
  await clock.advance(0.5);
  assert.deepEqual(delivered, ["a", "b"]);
  reply("c");
  assert.deepEqual(delivered, ["a", "b", "c"]);
});

test("a failed exchange is not waited for", () => {
  const { batch, delivered, reply } = batchOf(2);
  reply("a");
  batch.settle();
  assert.deepEqual(delivered, ["a"]);
});
