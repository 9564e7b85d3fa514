import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualClock } from "#base";
import { type Limiter, type LimiterOptions, type LimitOptions, limiter } from "./limiter.ts";

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
};

function setUp(options: Partial<LimiterOptions> = {}) {
  const clock = virtualClock();
  const made: Limiter = limiter({ clock, concurrency: 2, ...options });
  const log: string[] = [];
  const open = new Map<string, () => void>();
  const start = (name: string, options?: LimitOptions): Promise<void> =>
    made.run(async () => {
      log.push(name);
      await new Promise<void>((resolve) => open.set(name, resolve));
    }, options);
  return { clock, log, start, end: async (name: string) => (open.get(name)!(), await turns()) };
}

test("concurrency is bounded, and waiting tasks run in FIFO order", async () => {
  const { log, start, end } = setUp();
  const all = ["a", "b", "c", "d"].map((name) => start(name));
  await turns();
  assert.deepEqual(log, ["a", "b"]);
  await end("b");
  assert.deepEqual(log, ["a", "b", "c"]);
  await end("a");
  assert.deepEqual(log, ["a", "b", "c", "d"]);
  await end("c");
  await end("d");
  await Promise.all(all);
});

test("low priority tasks run last", async () => {
  const { log, start, end } = setUp({ concurrency: 1 });
  const all = [start("a"), start("later", { lowPriority: true }), start("b")];
  await turns();
  for (const name of ["a", "b", "later"]) await end(name);
  await Promise.all(all);
  assert.deepEqual(log, ["a", "b", "later"]);
});

test("a slow task releases its slot early, and only once", async () => {
  const { clock, log, start, end } = setUp({ concurrency: 1, slotMilliseconds: 1000 });
  const all = ["slow", "b", "c", "d"].map((name) => start(name));
  await turns();
  await clock.advance(999);
  assert.deepEqual(log, ["slow"]);
  await clock.advance(1);
  assert.deepEqual(log, ["slow", "b"]);
  await end("slow");
  assert.deepEqual(log, ["slow", "b"]);
  await end("b");
  await end("c");
  await end("d");
  await Promise.all(all);
});

test("a failed task releases its slot", async () => {
  const made = limiter({ clock: virtualClock(), concurrency: 1 });
  await assert.rejects(
    made.run(() => Promise.reject(new Error("no"))),
    /no/,
  );
  assert.equal(await made.run(async () => 7), 7);
});

test("an aborted task leaves the queue without having run", async () => {
  const { log, start, end } = setUp({ concurrency: 1 });
  const stop = new AbortController();
  const first = start("a");
  const second = start("b", { signal: stop.signal });
  const third = start("c");
  await turns();
  stop.abort(new Error("enough"));
  await assert.rejects(second, /enough/);
  await assert.rejects(start("d", { signal: stop.signal }), /enough/);
  await end("a");
  await end("c");
  await Promise.all([first, third]);
  assert.deepEqual(log, ["a", "c"]);
});
