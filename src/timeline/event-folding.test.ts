// Floods of any size are folded in bounded steps, and a watch that ends is restarted.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { Event } from "#api";
import { silentLog, virtualClock } from "#base";
import type { CachedObject, FrameSink, ObjectSource } from "#watchcache";
import { EventFolding } from "./event-folding.ts";

const event = (at: number): CachedObject =>
  ({
    key: `e${at}`,
    revision: at,
    namespace: "n",
    fields: { reason: "R", type: "Normal", "involvedObject.name": "p" },
    json: Buffer.from(
      JSON.stringify({
        metadata: {},
        eventTime: new Date(at).toISOString().replace("Z", "000Z"),
        regarding: { kind: "Pod", name: "p" },
        deprecatedSource: {},
      }),
    ),
  }) as unknown as CachedObject;

function folding(items: Map<string, CachedObject>) {
  const watchers: FrameSink[] = [];
  const clock = virtualClock();
  let counted = 1;
  const made = new EventFolding({
    most: 2,
    clock,
    log: silentLog,
    signal: new AbortController().signal,
    events: {
      watch: async (_query: unknown, watcher: FrameSink) => {
        watchers.push(watcher);
        watcher.deliver([...items.values()].map((item) => ({ type: "ADDED", item }) as never));
      },
    } as unknown as ObjectSource,
    replace: async (item, change) => {
      const changed = { metadata: {}, eventTime: "x", series: { count: counted } } as Event;
      change(changed);
      counted = changed.series!.count;
      watchers.at(-1)!.deliver([{ type: "MODIFIED", item } as never]);
      return true;
    },
    remove: async (key) => {
      watchers.at(-1)!.deliver([{ type: "DELETED", key } as never]);
      return items.delete(key);
    },
  });
  return { made, clock, watchers, counted: () => counted };
}

test("a flood larger than one step is folded in several steps", async () => {
  const items = new Map(Array.from({ length: 9000 }, (_, at) => [`e${at}`, event(at)]));
  const { made, clock, counted } = folding(items);
  await made.start();
  for (const left of [9000 - 4095, 9000 - 2 * 4095, 2]) {
    await clock.advance(1000);
    await setImmediate();
    assert.equal(items.size, left);
  }
  assert.deepEqual([...items.keys()], ["e0", "e8999"]);
  assert.deepEqual([counted(), made.folded], [8999, 8998]);
});

test("a watch that ends is restarted after a delay", async () => {
  const { made, clock, watchers } = folding(new Map());
  await made.start();
  watchers[0]!.ended();
  assert.equal(watchers.length, 1);
  await clock.advance(1000);
  assert.equal(watchers.length, 2);
});
