// Rows of events are saved, restored, and removed with their events.
import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualClock } from "#base";
import type { CachedObject, FrameSink, ObjectSource } from "#watchcache";
import type { EventRows } from "./event-rows.ts";
import { EventSummaries, derivedInMemory } from "./event-summaries.ts";

const time = "2030-01-01T00:00:00.000001Z";
const event = (name: string, revision: number): CachedObject =>
  ({
    key: name,
    revision,
    namespace: "n",
    json: Buffer.from(
      JSON.stringify({
        metadata: {},
        eventTime: time,
        reason: "R",
        regarding: { kind: "Pod", name },
        deprecatedSource: {},
      }),
    ),
  }) as unknown as CachedObject;
/** An event whose bytes must not be read. */
const unread = (name: string, revision: number): CachedObject =>
  ({
    key: name,
    revision,
    get json(): Buffer {
      throw new Error(`${name} was read`);
    },
  }) as unknown as CachedObject;

function source(items: CachedObject[]) {
  let watcher: FrameSink | undefined;
  const events = {
    get: async () => undefined,
    revision: () => items.at(-1)?.revision ?? 0,
    count: () => items.length,
    listCached: () => items,
    list: async () => ({ items, revision: 0 }),
    watch: async (_query: unknown, given: FrameSink) => void (watcher = given),
  } as unknown as ObjectSource;
  const deliver = (...added: CachedObject[]): void => {
    items.push(...added);
    watcher!.deliver(added.map((item) => ({ type: "ADDED", item }) as never));
  };
  return { events, deliver, end: () => watcher!.ended() };
}

const { signal } = new AbortController();
const revisionsOf = (rows: readonly EventRows[]): number[] =>
  rows.flatMap((each) => [...each.revisions.subarray(0, each.length)]);

test("existing and new events are recorded", async () => {
  const { events, deliver } = source([event("b", 2), event("a", 1)]);
  const summaries = new EventSummaries({
    events,
    derived: derivedInMemory(),
    clock: virtualClock(0),
    signal,
  });
  await summaries.start();
  deliver(event("c", 3));
  const rows = await summaries.read();
  assert.deepEqual(revisionsOf(rows), [1, 2, 3]);
  assert.deepEqual(
    rows[0]!.objects.map(({ name }) => name),
    ["a", "b", "c"],
  );
});

test("after a restart only newer events are read", async () => {
  const derived = derivedInMemory();
  const clock = virtualClock(0);
  const before = new EventSummaries({
    events: source([event("a", 1), event("b", 2)]).events,
    derived,
    clock,
    signal,
  });
  await before.start();
  await before.stop();
  const { events } = source([unread("a", 1), unread("b", 2), event("c", 5)]);
  const after = new EventSummaries({ events, derived, clock, signal });
  await after.start();
  assert.deepEqual(revisionsOf(await after.read()), [1, 2, 5]);
});

test("a watch that ends is restarted after a delay and records missed events", async () => {
  const clock = virtualClock(0);
  const items = [event("a", 1)];
  const { events, end } = source(items);
  const summaries = new EventSummaries({ events, derived: derivedInMemory(), clock, signal });
  await summaries.start();
  items.push(event("b", 2));
  end();
  await clock.advance(1000);
  assert.deepEqual(revisionsOf(await summaries.read()), [1, 2]);
});

test("rows of deleted events are removed, and small pieces are merged", async () => {
  const derived = derivedInMemory();
  const items: CachedObject[] = [];
  const { events, deliver } = source(items);
  const clock = virtualClock(0);
  const summaries = new EventSummaries({ events, derived, clock, signal, rowsPerPiece: 8 });
  await summaries.start();
  for (let revision = 1; revision <= 200; revision++) {
    deliver(event(`e${revision}`, revision));
    if (items.length > 3) items.splice(1, 1);
    if (revision % 8 === 0) await summaries.read();
  }
  const found = revisionsOf(await summaries.read());
  assert.ok(found.length < 40, `${found.length} rows`);
  for (const { revision } of items) assert.ok(found.includes(revision), `${revision} of ${found}`);
  assert.deepEqual(
    found,
    found.toSorted((a, b) => a - b),
  );
});

test("rows saved in another format are rebuilt", async () => {
  const derived = derivedInMemory();
  await derived.write("timeline rows", 1, Buffer.from("nonsense"));
  const { events } = source([event("a", 1)]);
  const summaries = new EventSummaries({ events, derived, clock: virtualClock(0), signal });
  await summaries.start();
  assert.deepEqual(revisionsOf(await summaries.read()), [1]);
});
