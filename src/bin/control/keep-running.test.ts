import assert from "node:assert/strict";
import { test } from "node:test";
import { createMetrics, silentLog, virtualClock } from "#base";
import type { ApiClient } from "#client";
import { clusterView } from "#controllerkit";
import { dialects } from "#dialect";
import { defaultGates } from "#options";
import type { ClientProgramParts } from "./client-program.ts";
import { keepRunning } from "./keep-running.ts";

const client = {} as ApiClient;

function partsOf(signal: AbortSignal) {
  const clock = virtualClock();
  const parts: ClientProgramParts = {
    client,
    asAccount: () => client,
    metrics: createMetrics(),
    checks: [],
    signal,
    dialect: dialects.orch,
    clock,
    log: silentLog,
    gates: defaultGates,
    view: clusterView({ client, clock, signal, log: silentLog }),
  };
  return { clock, parts };
}

test("a failing part is restarted with growing delays, and the other part keeps running", async () => {
  const stopping = new AbortController();
  const { clock, parts } = partsOf(stopping.signal);
  const starts: number[] = [];
  const ended: AbortSignal[] = [];
  const reported: string[] = [];
  const failing = keepRunning(
    "proxy",
    parts,
    ({ signal }) => {
      starts.push(clock.now());
      ended.push(signal);
      return starts.length < 4
        ? Promise.reject(new Error(`attempt ${starts.length}`))
        : new Promise((resolve) => signal.addEventListener("abort", () => resolve()));
    },
    (why) => reported.push(why),
  );
  let neighbourStarts = 0;
  const neighbour = keepRunning(
    "name server",
    parts,
    ({ signal }) => {
      neighbourStarts++;
      return new Promise((resolve) => signal.addEventListener("abort", () => resolve()));
    },
    assert.fail,
  );
  const began = clock.now();
  await new Promise(setImmediate);
  await clock.advance(10_000);
  assert.deepEqual(
    starts.map((at) => at - began),
    [0, 500, 1500, 3500],
  );
  assert.deepEqual(reported, ["attempt 1", "attempt 2", "attempt 3"]);
  assert.deepEqual(
    ended.map(({ aborted }) => aborted),
    [true, true, true, false],
    "informers of a failed attempt have stopped",
  );
  assert.equal(neighbourStarts, 1);
  stopping.abort();
  await Promise.all([failing, neighbour]);
});

test("nothing is restarted after a stop was requested", async () => {
  const stopping = new AbortController();
  const { parts } = partsOf(stopping.signal);
  let starts = 0;
  const running = keepRunning(
    "proxy",
    parts,
    () => Promise.reject(new Error(`attempt ${++starts}`)),
    () => stopping.abort(),
  );
  await running;
  assert.equal(starts, 1);
});
