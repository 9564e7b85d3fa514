import assert from "node:assert/strict";
import { test } from "node:test";
import { digest } from "./digest.fixture.ts";
import type { ListRequest } from "./request-digest.ts";
import { WatchTracker } from "./watch-tracker.ts";
import { estimateWork } from "./work-estimate.ts";

const facts = (objects: number | undefined, watches = 0) => ({
  objectCount: () => objects,
  watchCount: () => watches,
});

const lists: [
  name: string,
  objects: number | undefined,
  parameters: Partial<ListRequest>,
  maxSeats: number,
  seats: number,
][] = [
  ["of few objects", 10, {}, 10, 1],
  ["from the store goes through each object twice", 250, {}, 10, 5],
  ["from the cache goes through each object once", 250, { resourceVersion: "0" }, 10, 3],
  ["with a selector goes through all and returns some", 250, { selects: true }, 10, 5],
  ["with a limit returns so many", 1000, { limit: 100 }, 10, 2],
  ["with a limit and a selector goes through all", 500, { limit: 100, selects: true }, 10, 6],
  ["with a limit at version 0 comes from the cache", 500, { limit: 100, resourceVersion: "0" }, 10, 5],
  ["that continues comes from the store", 300, { continues: true, resourceVersion: "0" }, 10, 6],
  ["at an exact version comes from the store", 300, { exactMatch: true, resourceVersion: "7" }, 10, 6],
  ["never takes more than ten seats", 1_000_000, {}, 0, 10],
  ["never takes more than its level allows", 1_000_000, {}, 4, 4],
  ["of an unknown resource", undefined, {}, 10, 1],
];
for (const [name, objects, parameters, maxSeats, seats] of lists)
  test(`a list ${name}: ${seats}`, () =>
    assert.equal(
      estimateWork(digest({ verb: "list", parameters }), facts(objects), maxSeats).initialSeats,
      seats,
    ));

test("a list of one name takes one seat", () =>
  assert.equal(estimateWork(digest({ verb: "list", name: "a" }), facts(1000), 10).initialSeats, 1));

const writes: [name: string, watches: number, maxSeats: number, finalSeats: number, milliseconds: number][] =
  [
    ["that few watches receive", 9, 10, 0, 0],
    ["that many watches receive", 30, 10, 3, 5],
    ["that too many watches receive takes its seats for longer", 200, 10, 10, 10],
  ];
for (const [name, watches, maxSeats, finalSeats, additionalMilliseconds] of writes)
  test(`a write ${name}`, () =>
    assert.deepEqual(estimateWork(digest({ verb: "update" }), facts(0, watches), maxSeats), {
      initialSeats: 1,
      finalSeats,
      additionalMilliseconds,
    }));

test("creating a token notifies no watch", () => {
  const request = digest({ verb: "create", resource: "serviceaccounts", subresource: "token" });
  assert.equal(estimateWork(request, facts(0, 100), 10).finalSeats, 0);
});

test("watches are counted for the writes they receive, until they end", () => {
  const tracker = new WatchTracker();
  const ends = [
    tracker.add({ group: "", resource: "pods", namespace: "", name: "" }),
    tracker.add({ group: "", resource: "pods", namespace: "a", name: "" }),
    tracker.add({ group: "", resource: "pods", namespace: "b", name: "" }),
    tracker.add({ group: "", resource: "pods", namespace: "a", name: "x" }),
    tracker.add({ group: "apps", resource: "pods", namespace: "", name: "" }),
  ];
  const write = { group: "", resource: "pods", namespace: "a", name: "x" };
  assert.equal(tracker.interested(write), 3);
  assert.equal(tracker.interested({ ...write, name: "y" }), 2);
  for (const end of ends) end();
  assert.equal(tracker.interested(write), 0);
});
