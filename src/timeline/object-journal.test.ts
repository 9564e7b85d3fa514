// Edge cases of the journal: watches that end, and changes that cannot be compared.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createLog, virtualClock } from "#base";
import { type CachedObject, type FrameSink, withRevision } from "#watchcache";
import type { Kinds, ServedKind } from "./kinds.ts";
import { ObjectJournal } from "./object-journal.ts";

const object = (revision: number, text = ""): CachedObject =>
  withRevision(
    "k",
    revision,
    Buffer.from(`{"kind":"K","apiVersion":"v1","metadata":{"name":"a","uid":"u"}${text}}`),
    { name: "a", namespace: "n", labels: {}, fields: {} },
  );

async function setUp(onWatch: (sink: FrameSink) => void) {
  const clock = virtualClock(Date.UTC(2030, 0, 1));
  const lines: string[] = [];
  const log = createLog({ sink: { write: (line) => void lines.push(line), flush: () => undefined } });
  const stop = new AbortController();
  let watches = 0;
  const source = {
    revision: () => 1,
    listCached: () => [],
    watch: (_: unknown, sink: FrameSink) => {
      watches++;
      onWatch(sink);
      return Promise.resolve();
    },
  };
  const kind = { group: "", kind: "K", plural: "ks", groupResource: "ks", resource: { source } };
  const served = kind as unknown as ServedKind;
  const kinds = { refresh: () => 0, revision: () => 1, journaled: () => [served], has: () => true };
  const journal = new ObjectJournal({
    kinds: kinds as unknown as Kinds,
    clock,
    log,
    signal: stop.signal,
    keepMilliseconds: 3_600_000,
    maxBytes: 10_000_000,
    valuesInFiles: true,
  });
  await journal.start();
  return { clock, journal, lines, stop, watches: () => watches };
}

test("a watch that ends immediately is restarted after a delay", async () => {
  let left = 100;
  const { clock, watches, stop } = await setUp((sink) => {
    if (left-- > 0) sink.ended();
  });
  assert.equal(watches(), 1);
  await clock.advance(100);
  assert.equal(watches(), 2);
  stop.abort();
});

test("a change that cannot be compared is recorded without fields", async () => {
  let sink: FrameSink | undefined;
  const { clock, journal, lines, stop } = await setUp((given) => (sink = given));
  const frame = { type: "MODIFIED", item: object(3), previous: object(2, ',"spec":{') };
  sink!.deliver([frame] as unknown as Parameters<FrameSink["deliver"]>[0]);
  await clock.advance(1000);
  const record = [...journal.after(0)!].map(({ type, name, fields }) => [type, name, fields]);
  assert.deepEqual(record, [["Changed", "a", undefined]]);
  assert.match(lines.join(""), /a change cannot be compared/);
  stop.abort();
});

test("changes of a very large object are recorded without fields", async () => {
  let sink: FrameSink | undefined;
  const { clock, journal, lines, stop } = await setUp((given) => (sink = given));
  const long = (letter: string): string => `,"data":{"text":"${letter.repeat(300_000)}"}`;
  const frame = { type: "MODIFIED", item: object(3, long("b")), previous: object(2, long("a")) };
  sink!.deliver([frame] as unknown as Parameters<FrameSink["deliver"]>[0]);
  await clock.advance(1000);
  const record = [...journal.after(0)!].map(({ type, name, fields }) => [type, name, fields]);
  assert.deepEqual(record, [["Changed", "a", undefined]]);
  assert.deepEqual(lines, []);
  stop.abort();
});

test("many concurrent changes are all recorded in order, over several time slices", async () => {
  let sink: FrameSink | undefined;
  const { clock, journal, stop } = await setUp((given) => (sink = given));
  const revisions = Array.from({ length: 5000 }, (_, at) => at + 2);
  const frames = revisions.map((revision) => ({
    type: "ADDED",
    item: object(revision),
    previous: undefined,
  }));
  sink!.deliver(frames as unknown as Parameters<FrameSink["deliver"]>[0]);
  await clock.advance(60_000);
  assert.deepEqual(
    [...journal.after(0)!].map(({ revision }) => revision),
    revisions,
  );
  stop.abort();
});
