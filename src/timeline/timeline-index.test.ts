// Lanes of nodes, whose agents name them by their name instead of their uid.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { CachedObject } from "#watchcache";
import type { JournalRecord } from "./journal-record.ts";
import { TimelineIndex } from "./timeline-index.ts";

const eventOf = (revision: number, regarding: object): CachedObject => {
  const event = {
    metadata: { name: `e${revision}`, namespace: "default", uid: `e${revision}` },
    eventTime: `2026-01-01T00:00:0${revision}.000000Z`,
    reason: "Starting",
    regarding: { kind: "Node", name: "a", ...regarding },
    deprecatedSource: {},
  };
  return {
    revision,
    namespace: "default",
    json: Buffer.from(JSON.stringify(event)),
  } as unknown as CachedObject;
};
const created = (revision: number, uid: string): JournalRecord => ({
  sequence: revision,
  type: "Created",
  time: revision,
  revision,
  group: "",
  kind: "Node",
  resource: "nodes",
  namespace: "",
  name: "a",
  uid,
});
const lanesOf = (index: TimelineIndex): [uid: string, points: number][] =>
  [...index.lanes()].map(({ uid, points }) => [uid, points.size]);
const byAgent = { uid: "a" };

test("events of a node's agent join the lane of the node, before and after its uid is known", () => {
  const index = new TimelineIndex();
  index.addEvent(eventOf(1, byAgent));
  assert.deepEqual(lanesOf(index), [["a", 1]]);
  index.addChange(created(2, "u1"));
  index.addEvent(eventOf(3, byAgent));
  index.addEvent(eventOf(4, { uid: "u1" }));
  assert.deepEqual(lanesOf(index), [["u1", 4]]);
  assert.equal(index.lane("/u1")?.name, "a");
});

test("a node that is created again has a lane of its own, which the events of its agent join", () => {
  const index = new TimelineIndex();
  const changes = [created(1, "u1"), created(3, "u2")];
  const events = [eventOf(2, byAgent), eventOf(4, byAgent)];
  for (const _ of index.load(events, [], changes));
  assert.deepEqual(lanesOf(index), [
    ["u1", 2],
    ["u2", 2],
  ]);
});

test("a lane is forgotten with its last point", () => {
  const index = new TimelineIndex();
  index.addChange(created(1, "u1"));
  index.removeChange(1);
  index.addEvent(eventOf(2, byAgent));
  assert.deepEqual(lanesOf(index), [["a", 1]]);
  index.removeEvent(2);
  assert.deepEqual(lanesOf(index), []);
});

test("objects in namespaces and of other groups have lanes by their uid", () => {
  const index = new TimelineIndex();
  index.addEvent(eventOf(1, { uid: "a", namespace: "default" }));
  index.addEvent(eventOf(2, { uid: "a", apiVersion: "example.com/v1", name: "b" }));
  index.addChange(created(3, "u1"));
  assert.equal([...index.lanes()].length, 3);
});
