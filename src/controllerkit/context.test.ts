import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLog, virtualClock } from "#base";
import type { ApiClient } from "#client";
import { dialects } from "#dialect";
import { clusterView } from "./cluster-view.ts";
import { queueFor, sharedContext } from "./context.ts";

for (const [workers, most] of [
  [undefined, 3],
  [new Map([["q", 1]]), 1],
  [new Map([["other", 1]]), 3],
] as const)
  test(`a queue uses ${most} workers when the operator configured ${workers ? [...workers].join() : "none"}`, async () => {
    const stopping = new AbortController();
    const base = { client: {} as ApiClient, clock: virtualClock(), signal: stopping.signal, log: silentLog };
    const context = sharedContext({
      ...base,
      view: clusterView(base),
      dialect: dialects.orch,
      ...(workers && { workers }),
    });
    let [active, seen] = [0, 0];
    const queue = queueFor(
      context,
      "q",
      async () => {
        seen = Math.max(seen, ++active);
        for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
        active--;
      },
      { workers: 3 },
    );
    for (const key of ["a", "b", "c", "d"]) queue.add(key);
    for (let turn = 0; turn < 60; turn++) await new Promise((resolve) => setImmediate(resolve));
    stopping.abort();
    await queue.stopped;
    assert.equal(seen, most);
  });
