// The index lives as long as it is used, and misses no change that happens while it is built.
import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualClock } from "#base";
import type { CachedObject, FrameSink, ObjectSource } from "#watchcache";
import type { Journal, JournalFollower } from "./journal.ts";
import type { JournalRecord } from "./journal-record.ts";
import { LiveIndex } from "./live-index.ts";

const change = (sequence: number): JournalRecord => ({
  sequence,
  type: "Changed",
  time: sequence,
  revision: sequence,
  group: "",
  kind: "Pod",
  resource: "pods",
  namespace: "n",
  name: `p${sequence}`,
  uid: `u${sequence}`,
});

/** `whileReading` runs in the middle of building an index. */
function parts(whileReading: (follower: JournalFollower) => void) {
  let follower: JournalFollower | undefined;
  const watchers: FrameSink[] = [];
  const items = {
    keys: (): Iterator<number> => {
      whileReading(follower!);
      const none: number[] = [];
      return none.values();
    },
  };
  const events = {
    list: async () => ({ items: items as unknown as CachedObject[], revision: 1 }),
    get: async () => undefined,
    revision: () => 1,
    listCached: () => [],
    watch: async (_query: unknown, watcher: FrameSink) => void watchers.push(watcher),
  } as unknown as ObjectSource;
  const journal = {
    follow: (given: JournalFollower) => {
      follower = given;
      return [change(1), change(2)];
    },
    owned: () => [],
    settle: () => undefined,
  } as unknown as Journal;
  return { events, journal, watchers };
}

test("a change removed while the index is built is not in it", async () => {
  const { events, journal } = parts((follower) => {
    follower.removed(change(1));
    follower.added(change(3));
  });
  const live = new LiveIndex({
    events,
    rows: async () => [],
    journal,
    clock: virtualClock(0),
    signal: new AbortController().signal,
  });
  const { index } = await live.use();
  assert.deepEqual([...index.lanes()].map(({ name }) => name).sort(), ["p2", "p3"]);
  assert.equal(index.points.size, 2);
  assert.equal(index.facets.size, 1);
});

test("the index is dropped when it is idle, and when its watch ends", async () => {
  const clock = virtualClock(0);
  const { events, journal, watchers } = parts(() => undefined);
  const live = new LiveIndex({
    events,
    rows: async () => [],
    journal,
    clock,
    signal: new AbortController().signal,
  });
  const first = await live.use();
  await clock.advance(9 * 60_000);
  assert.equal((await live.use()).index, first.index);
  await clock.advance(9 * 60_000);
  assert.ok(live.active);
  await clock.advance(11 * 60_000);
  assert.ok(!live.active);
  const second = await live.use();
  assert.notEqual(second.index, first.index);
  watchers.at(-1)!.ended();
  assert.ok(!live.active);
});
