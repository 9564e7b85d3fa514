import assert from "node:assert/strict";
import { test } from "node:test";
import { type VirtualClock, silentLog, virtualClock } from "#base";
import { retryListen } from "./server.ts";

const passing = async (clock: VirtualClock, seconds: number): Promise<void> => {
  for (let step = 0; step < seconds * 4; step++) await clock.advance(250);
};
const taken = Object.assign(new Error("listen EADDRINUSE"), { code: "EADDRINUSE" });

test("a port that is taken is waited for", async () => {
  const clock = virtualClock();
  let tries = 0;
  const opened = retryListen({ clock, log: silentLog }, async () => {
    if (++tries < 3) throw taken;
    return "open";
  });
  await passing(clock, 2);
  assert.equal(await opened, "open");
  assert.equal(tries, 3);
});

test("a port that stays taken ends the start", async () => {
  const clock = virtualClock();
  const opened = assert.rejects(
    retryListen({ clock, log: silentLog }, () => Promise.reject(taken)),
    /EADDRINUSE/,
  );
  await passing(clock, 40);
  await opened;
});

test("a port that cannot be had at all is not waited for", async () => {
  const denied = Object.assign(new Error("listen EACCES"), { code: "EACCES" });
  await assert.rejects(
    retryListen({ clock: virtualClock(), log: silentLog }, () => Promise.reject(denied)),
    /EACCES/,
  );
});
