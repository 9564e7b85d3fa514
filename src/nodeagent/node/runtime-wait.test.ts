import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLog, virtualClock } from "#base";
import type { ContainerRuntime } from "#cri";
import { GrpcError } from "#http";
import { waitForRuntime } from "./runtime-wait.ts";

const away = (): Promise<never> => Promise.reject(new GrpcError("UNAVAILABLE", "no such socket"));
const answer = () => Promise.resolve({ version: "0.1.0", runtimeName: "rt", runtimeVersion: "1" });
type Version = () => Promise<unknown>;

/**
 * Returns how long the start waits for a runtime with these responses, call by call; the last one is
 * repeated.
 */
async function waited(answers: readonly Version[], signal = new AbortController().signal): Promise<number> {
  const clock = virtualClock(1_000_000);
  let calls = 0;
  const version = () => answers[Math.min(calls++, answers.length - 1)]!();
  const runtime = { version } as unknown as Pick<ContainerRuntime, "version">;
  let over = false;
  const end = waitForRuntime({ runtime, clock, log: silentLog, signal }).then(() => void (over = true));
  for (let steps = 0; !over && steps < 200; steps++) {
    await new Promise((resolve) => setImmediate(resolve));
    if (!over) await clock.advance(500);
  }
  await end;
  return clock.now() - 1_000_000;
}

const cases: [name: string, answers: readonly Version[], least: number, most: number][] = [
  ["a runtime that responds is not waited for", [answer], 0, 500],
  ["a runtime that starts later is waited for", [away, away, away, answer], 1500, 2500],
  ["a runtime that does not respond is considered present", [() => new Promise(() => undefined)], 2000, 2500],
  [
    "a runtime that responds with another error is considered present",
    [() => Promise.reject(new Error("no"))],
    0,
    500,
  ],
  ["a runtime that never starts is waited for half a minute", [away], 30_000, 31_000],
];
for (const [name, answers, least, most] of cases) {
  test(name, async () => {
    const milliseconds = await waited(answers);
    assert.ok(milliseconds >= least && milliseconds <= most, `waited ${milliseconds} ms`);
  });
}

test("a stopped agent does not wait any longer", async () => {
  assert.ok((await waited([away], AbortSignal.abort(new Error("stopped")))) <= 500);
});
