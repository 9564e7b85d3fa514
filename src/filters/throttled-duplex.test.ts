import assert from "node:assert/strict";
import { duplexPair } from "node:stream";
import { test } from "node:test";
import { virtualClock } from "#base";
import { turn } from "#kit";
import { throttledDuplex } from "./throttled-duplex.ts";

function connected(bytesPerSecond: number) {
  const clock = virtualClock();
  const [near, far] = duplexPair();
  const throttled = throttledDuplex(near, bytesPerSecond, clock);
  const received = { here: 0, there: 0 };
  throttled.on("data", (chunk: Buffer) => (received.here += chunk.length));
  far.on("data", (chunk: Buffer) => (received.there += chunk.length));
  const advance = async (milliseconds: number): Promise<void> => {
    for (let at = 0; at < 4; at++) await turn();
    await clock.advance(milliseconds);
    for (let at = 0; at < 4; at++) await turn();
  };
  return { near, far, throttled, received, advance };
}

test("one second's worth passes immediately, the rest at the rate, each way", async () => {
  const { far, throttled, received, advance } = connected(100);
  for (let at = 0; at < 3; at++) {
    throttled.write(Buffer.alloc(100));
    far.write(Buffer.alloc(100));
    await advance(0);
  }
  assert.deepEqual(received, { here: 100, there: 100 });
  await advance(1000);
  assert.deepEqual(received, { here: 200, there: 200 });
  await advance(1000);
  assert.deepEqual(received, { here: 300, there: 300 });
});

test("an end and a close are passed on", async () => {
  const { near, far, throttled, advance } = connected(1000);
  let ended = false;
  throttled.on("end", () => (ended = true));
  far.end();
  await advance(0);
  assert.equal(ended, true);
  throttled.destroy();
  await advance(0);
  assert.equal(near.destroyed, true);
});
