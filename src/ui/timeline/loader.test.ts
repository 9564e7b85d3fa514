import assert from "node:assert/strict";
import { test } from "node:test";
import { CallError, type Client, type Query } from "../api/client.ts";
import { type TimelineState, timelineLoader } from "./loader.ts";
import { requestFor } from "./request.ts";

const missing = { eventsEvicted: 0, eventsFolded: 0, changesDropped: 0, changesSince: "", withheld: [] };
const laneList = (more = {}) => ({
  kind: "LaneList",
  metadata: { cursor: "c1" },
  missing,
  start: "2026-01-01T00:00:00Z",
  end: "2026-01-01T01:00:00Z",
  intervalSeconds: 10,
  total: 1,
  items: [{ object: { kind: "Pod", name: "a" }, owners: [], counts: {}, first: "", last: "" }],
  ...more,
});

/** A server whose responses the test provides, and all states reported by the loader. */
function setUp(answers: { lanes?: (query: Query) => unknown } = {}) {
  const requests: { path: string; query: Query }[] = [];
  const states: TimelineState[] = [];
  const frames: ((line: string) => void)[] = [];
  let woken = Promise.withResolvers<void>();
  const client: Client = {
    json: async <T>(path: string, query: Query = {}) => {
      requests.push({ path, query });
      return (path.endsWith("/lanes") ? (answers.lanes ?? laneList)(query) : { groups: [] }) as T;
    },
    text: () => Promise.reject(new Error("not asked for")),
    lines: async function* () {
      const frame = Promise.withResolvers<string>();
      frames.push(frame.resolve);
      woken.resolve();
      yield await frame.promise;
    },
  };
  const loader = timelineLoader({
    client,
    onChange: (state) => states.push(state),
    now: () => 0,
    sleep: () => Promise.resolve(),
  });
  const following = async () => {
    await woken.promise;
    woken = Promise.withResolvers();
  };
  return { loader, requests, states, frames, following };
}

const live = requestFor("/t", "pods -n shop", { live: true, span: 3_600_000 });
const past = requestFor("/t", "deploy/web", { live: false, from: 0, to: 60_000 });

test("a live range is requested by its width, in the namespace of the search", async () => {
  const it = setUp();
  it.loader.show(live);
  await it.following();
  it.loader.stop();
  assert.deepEqual(
    it.requests.map(({ path }) => path),
    ["/t/namespaces/shop/lanes", "/t/namespaces/shop/buckets"],
  );
  assert.equal(it.requests[0]!.query["since"], "3600s");
  assert.deepEqual(it.requests[0]!.query["kind"], ["pods"]);
  assert.equal(it.states.at(-1)!.data!.interval, 10_000);
});

test("a watch frame triggers a reload", async () => {
  const it = setUp();
  it.loader.show(live);
  await it.following();
  assert.equal(it.requests.length, 2);
  it.frames[0]!('{"type":"ADDED","object":{},"cursor":"c2"}');
  await it.following();
  it.loader.stop();
  assert.equal(it.requests.length, 4);
});

test("a fixed range is loaded once, with the tree of a named object", async () => {
  const it = setUp();
  it.loader.show(past);
  await new Promise(setImmediate);
  assert.equal(it.requests[0]!.query["tree"], true);
  assert.equal(it.requests[0]!.query["until"], "1970-01-01T00:01:00.000Z");
  assert.equal(it.frames.length, 0);
  assert.equal(it.states.at(-1)!.loading, false);
});

test("further pages are loaded up to a limit", async () => {
  const page = laneList({ metadata: { cursor: "c", continue: "next" }, total: 100_000 });
  const many = { ...page, items: Array.from({ length: 1000 }, () => page.items[0]!) };
  const it = setUp({ lanes: () => many });
  it.loader.show(past);
  while (it.states.at(-1)?.data?.lanes.length !== 20_000) await new Promise(setImmediate);
  assert.equal(it.requests.filter(({ path }) => path.endsWith("/lanes")).length, 20);
});

test("a forbidden request is reported and not retried", async () => {
  const it = setUp({
    lanes: () => {
      throw new CallError(403, "Forbidden", "no");
    },
  });
  it.loader.show(live);
  await new Promise(setImmediate);
  assert.equal(it.states.at(-1)!.error?.status, 403);
  assert.equal(it.requests.length, 2);
});
