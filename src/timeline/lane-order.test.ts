import assert from "node:assert/strict";
import { test } from "node:test";
import type { JournalRecord } from "./journal-record.ts";
import { lanesByOwner } from "./lane-order.ts";
import { OwnerGraph } from "./owner-graph.ts";
import { TimelineIndex } from "./timeline-index.ts";

let sequence = 0;
const change = (kind: string, name: string): JournalRecord => ({
  sequence: ++sequence,
  type: "Created",
  time: 1_000_000 + sequence,
  revision: sequence,
  group: "",
  kind,
  resource: `${kind.toLowerCase()}s`,
  namespace: "n",
  name,
  uid: `uid-${name}`,
});
const owned = (name: string, owner: string) => ({
  group: "",
  kind: "Pod",
  namespace: "n",
  name,
  uid: `uid-${name}`,
  owners: [{ kind: "ReplicaSet", name: owner, uid: `uid-${owner}` }],
});
const everything = { rights: "", mayGet: () => true };
const nothing = { rights: "Pod", mayGet: () => false };

test("lanes are sorted below their owners as lanes and owners are added and removed", () => {
  const index = new TimelineIndex();
  const graph = new OwnerGraph();
  const names = (reader = everything): string[] =>
    lanesByOwner(index, graph, reader).map(({ lane }) => lane.name);
  for (const name of ["b", "a"]) index.addChange(change("Pod", name));
  index.addChange(change("ReplicaSet", "set"));
  assert.deepEqual(names(), ["a", "b", "set"]);
  graph.set(owned("b", "set"));
  assert.deepEqual(names(), ["a", "set", "b"]);
  assert.deepEqual(names(nothing), ["a", "b", "set"]);
  const late = change("Pod", "aa");
  index.addChange(late);
  assert.deepEqual(names(), ["a", "aa", "set", "b"]);
  index.removeChange(late.sequence);
  assert.deepEqual(names(), ["a", "set", "b"]);
  graph.delete("uid-b");
  assert.deepEqual(names(), ["a", "b", "set"]);
});

test("an order is computed again only after a change", () => {
  const index = new TimelineIndex();
  const graph = new OwnerGraph();
  index.addChange(change("Pod", "a"));
  const first = lanesByOwner(index, graph, everything);
  index.addChange(change("Pod", "a"));
  assert.equal(lanesByOwner(index, graph, everything), first);
  index.addChange(change("Pod", "b"));
  assert.notEqual(lanesByOwner(index, graph, everything), first);
});
