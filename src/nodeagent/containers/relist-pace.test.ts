import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLog, virtualClock } from "#base";
import { type ContainerRuntime, fakeRuntime } from "#cri";
import { dialects } from "#dialect";
import { podCache } from "./pod-cache.ts";
import { relistPace } from "./relist-pace.ts";

/** Counts how often a runtime is listed in a minute, by feature gate and state of its event stream. */
async function listsInAMinute(
  byEvents: boolean,
  stream: "open" | "unimplemented" | "broken" | "ended",
): Promise<{ lists: number; problems: readonly string[]; lagMilliseconds: number }> {
  const clock = virtualClock(1_000_000);
  const inner = fakeRuntime({ clock, events: stream !== "unimplemented" });
  let lists = 0;
  const runtime: ContainerRuntime = {
    ...inner,
    listPodSandboxes: (filter, signal) => {
      lists++;
      return inner.listPodSandboxes(filter, signal);
    },
    ...((stream === "broken" || stream === "ended") && {
      // eslint-disable-next-line require-yield -- a stream that ends before it has begun
      containerEvents: async function* () {
        if (stream === "broken") throw new Error("broken");
      },
    }),
  };
  const cache = podCache({
    runtime,
    clock,
    log: silentLog,
    dialect: dialects.orch,
    onChange: () => undefined,
    byEvents,
  });
  const stop = new AbortController();
  const following = cache.follow(stop.signal);
  for (let step = 0; step < 600; step++) await clock.advance(100);
  const lagMilliseconds = cache.sinceRelist();
  stop.abort();
  await following;
  return { lists, problems: cache.problems(), lagMilliseconds };
}

test("without the feature gate the runtime is listed every second, even if it sends events", async () => {
  const { lists } = await listsInAMinute(false, "open");
  assert.ok(lists >= 55, `${lists} lists`);
});

test("with the feature gate events replace lists, and a late list is not a problem", async () => {
  const { lists, problems, lagMilliseconds } = await listsInAMinute(true, "open");
  assert.equal(lists, 1);
  assert.deepEqual([problems, lagMilliseconds], [[], 0]);
});

for (const stream of ["unimplemented", "broken", "ended"] as const)
  test(`if the event stream is ${stream}, the runtime is listed every second again`, async () => {
    const { lists } = await listsInAMinute(true, stream);
    assert.ok(lists >= 50, `${lists} lists`);
  });

test("an event stream that fails during a list causes exactly one further list, when it is open again", async () => {
  const clock = virtualClock(0);
  const pace = relistPace(clock, 1000, true);
  const { signal } = new AbortController();
  pace.streamFailed();
  let isDue = false;
  void pace.wait(signal).then(() => (isDue = true));
  await clock.advance(pace.retryMilliseconds());
  assert.equal(isDue, false);
  await clock.advance(1000);
  assert.equal(isDue, true);
  isDue = false;
  void pace.wait(signal).then(() => (isDue = true));
  await clock.advance(299_000);
  assert.equal(isDue, false);
  await clock.advance(1000);
  assert.equal(isDue, true);
});

test("a clock that is set back delays no list", async () => {
  const clock = virtualClock(10_000_000);
  const pace = relistPace(clock, 1000, false);
  let isOver = false;
  const waiting = pace.wait(new AbortController().signal).then(() => (isOver = true));
  clock.set(5_000_000);
  await clock.advance(1000);
  assert.equal(isOver, true);
  await waiting;
});
