import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import { sleep } from "./sleep.ts";

test("a live timeline that sleeps for days does not fill its signal with listeners", async () => {
  const { signal } = new AbortController();
  await sleep(0, signal);
  assert.equal(getEventListeners(signal, "abort").length, 0);
});

test("an aborted sleep ends at once", async () => {
  const stop = new AbortController();
  const sleeping = sleep(2 ** 30, stop.signal);
  stop.abort();
  await assert.rejects(sleeping, /stopped/);
});
