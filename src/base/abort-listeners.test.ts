import assert from "node:assert/strict";
import { test } from "node:test";
import { AbortListeners } from "./abort-listeners.ts";

test("registered listeners are called once, and those added after the abort are not", () => {
  const stop = new AbortController();
  const listeners = new AbortListeners(stop.signal);
  const reported: string[] = [];
  const stays = (): void => void reported.push("stays");
  const goes = (): void => void reported.push("goes");
  const leavesWhenTold = (): void => {
    reported.push("leaves");
    listeners.delete(leavesWhenTold);
  };
  for (const listener of [stays, goes, leavesWhenTold, stays]) listeners.add(listener);
  listeners.delete(goes);
  assert.equal(listeners.aborted, false);
  stop.abort();
  assert.equal(listeners.aborted, true);
  listeners.add(goes);
  assert.deepEqual(reported, ["stays", "leaves"]);
});
