import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualClock } from "#base";
import { GrpcError } from "#http";
import type { Resource } from "#registry";
import { DecryptionFailed, StoreFull } from "#store";
import type { FrameSink } from "#watchcache";
import { type PostStartHookOptions, postStartHook } from "./post-start-hook.ts";

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
};

function startHook(t: { after(run: () => void): void }, options: Partial<PostStartHookOptions> = {}) {
  const clock = virtualClock();
  const stop = new AbortController();
  t.after(() => stop.abort());
  const watchers: FrameSink[] = [];
  const resource = {
    prefix: "/things/",
    source: { watch: async (_query: unknown, watcher: FrameSink) => void watchers.push(watcher) },
  } as unknown as Resource;
  const seen = { runs: 0, errors: [] as string[], error: "" };
  const work = postStartHook({
    name: "x",
    everyMilliseconds: 60_000,
    reconcile: async () => {
      seen.runs++;
      if (seen.error) throw new Error(seen.error);
    },
    failed: ({ message }) => void seen.errors.push(message),
    follows: [{ resource, key: "a" }],
    ...options,
  });
  const health = (): string => {
    try {
      void work.check.check();
      return "fine";
    } catch (error) {
      return (error as Error).message;
    }
  };
  return {
    seen,
    health,
    start: () => work.start(),
    keep: () => void work.run(clock, stop.signal),
    stop: () => stop.abort(),
    pass: async (milliseconds: number) => {
      await turns();
      await clock.advance(milliseconds);
      await turns();
    },
    change: (key: string) => watchers.at(-1)!.deliver([{ item: { key: `/things/${key}` } }] as never),
    endWatch: () => watchers.at(-1)!.ended(),
    watches: () => watchers.length,
  };
}

test("post-start hook: the check fails before the first success and after the hook has stopped", async (t) => {
  const at = startHook(t);
  assert.equal(at.health(), "not finished");
  await at.start();
  assert.equal(at.health(), "fine");
  at.keep();
  await at.pass(1);
  assert.equal(at.health(), "fine");
  at.stop();
  await at.pass(1);
  assert.equal(at.health(), "no longer running");
});

test("post-start hook: a permanent error fails the start", async (t) => {
  const at = startHook(t);
  at.seen.error = "no";
  await assert.rejects(at.start(), /no/);
  assert.equal(at.health(), "not finished");
});

test("post-start hook: work done only once is retried until it succeeds", async (t) => {
  let failing = true;
  let runs = 0;
  const reconcile = async (): Promise<void> => {
    runs++;
    if (failing) throw new StoreFull("/somewhere", "disk is full");
  };
  const at = startHook(t, { everyMilliseconds: undefined, reconcile });
  await at.start();
  at.keep();
  await at.pass(10_000);
  failing = false;
  await at.pass(10_000);
  await at.pass(3_600_000);
  assert.deepEqual([runs, at.health()], [3, "fine"]);
});

const storeErrors: [name: string, error: Error, optional: boolean][] = [
  ["full", new StoreFull("/somewhere", "disk is full"), false],
  ["full", new StoreFull("/somewhere", "disk is full"), true],
  ["unreadable", new DecryptionFailed("/maps/a", "the key service does not respond"), false],
  ["unavailable", new GrpcError("UNAVAILABLE", "the connection was lost"), false],
];
for (const [name, error, optional] of storeErrors) {
  test(`post-start hook: a store that is ${name} does not prevent the start, and the work is retried ${optional ? "without delaying readiness" : "before the server is ready"}`, async (t) => {
    let failing = true;
    const reconcile = async (): Promise<void> => {
      if (failing) throw error;
    };
    const at = startHook(t, { reconcile, optional });
    await at.start();
    assert.deepEqual([at.seen.errors.length, at.health()], [1, optional ? "fine" : "not finished"]);
    at.keep();
    failing = false;
    await at.pass(optional ? 60_000 : 10_000);
    assert.deepEqual([at.seen.errors.length, at.health()], [1, "fine"]);
  });
}

test("post-start hook: it is repeated periodically, and sooner after a failure, which is reported", async (t) => {
  const at = startHook(t);
  await at.start();
  at.keep();
  await at.pass(59_999);
  assert.equal(at.seen.runs, 1);
  at.seen.error = "the store is full";
  await at.pass(1);
  assert.deepEqual([at.seen.runs, at.seen.errors, at.health()], [2, ["the store is full"], "fine"]);
  at.seen.error = "";
  await at.pass(10_000);
  assert.deepEqual([at.seen.runs, at.seen.errors.length], [3, 1]);
});

test("post-start hook: a change of the watched object triggers it at once, also after the watch is restarted", async (t) => {
  const at = startHook(t);
  await at.start();
  at.keep();
  await at.pass(1);
  at.change("b");
  await at.pass(1);
  assert.equal(at.seen.runs, 1);
  at.change("a");
  await at.pass(1);
  assert.equal(at.seen.runs, 2);
  at.endWatch();
  await at.pass(1);
  assert.deepEqual([at.seen.runs, at.watches()], [3, 2]);
  at.change("a");
  await at.pass(1);
  assert.equal(at.seen.runs, 4);
});

test("post-start hook: two writers that undo each other's changes are rate limited", async (t) => {
  const at = startHook(t);
  await at.start();
  at.keep();
  await at.pass(1);
  for (let round = 0; round < 200; round++) {
    at.change("a");
    await turns();
  }
  assert.equal(at.seen.runs, 51);
  await at.pass(1200);
  assert.equal(at.seen.runs, 52);
  at.change("a");
  await at.pass(1199);
  assert.equal(at.seen.runs, 52);
  await at.pass(1);
  assert.equal(at.seen.runs, 53);
});

test("post-start hook: work done only once is not repeated", async (t) => {
  const at = startHook(t, { everyMilliseconds: undefined });
  await at.start();
  at.keep();
  await at.pass(3_600_000);
  assert.deepEqual([at.seen.runs, at.health()], [1, "fine"]);
});
