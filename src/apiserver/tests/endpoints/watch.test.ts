import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualClock } from "#base";
import { type Json, type Served, at, coreEvent, each, newEvent, serve } from "../../server.fixture.ts";

const start = Date.UTC(2030, 0);
const clock = virtualClock(start);
const cached = await serve({ clock });
const direct = await serve({ flags: ["--watch-cache=false"] });
const listing = await serve({ flags: ["--feature-gates=WatchList=true"] });

const maps = (namespace: string): string => `/api/v1/namespaces/${namespace}/configmaps`;
const merge = "application/merge-patch+json";
const seen = (frames: readonly Json[]): string[] =>
  frames.map((frame) => `${String(frame["type"])} ${String(at(frame, "object.metadata.name"))}`);

const servers: [name: string, served: Served][] = [
  ["cached", cached],
  ["uncached", direct],
];
for (const [how, { must, watch, follow, place }] of servers) {
  const make = async (path: string, name: string, labels: Record<string, string> = {}): Promise<string> =>
    String(
      (await must(201, "POST", path, { body: { metadata: { name, labels } } })).at(
        "metadata.resourceVersion",
      ),
    );
  const label = async (path: string, name: string, x: string | null): Promise<string> =>
    String(
      (
        await must(200, "PATCH", `${path}/${name}`, { type: merge, body: { metadata: { labels: { x } } } })
      ).at("metadata.resourceVersion"),
    );

  test(`${how}: a watch starts with the existing objects, then sends changes`, async () => {
    const path = maps(await place());
    await make(path, "a");
    const watching = watch(`${path}?watch=1`);
    assert.deepEqual(seen(await watching.next()), ["ADDED a"]);
    await make(path, "b");
    await label(path, "a", "1");
    await must(200, "DELETE", `${path}/b`);
    assert.deepEqual(seen(await watching.next(3)), ["ADDED b", "MODIFIED a", "DELETED b"]);
    watching.stop();
  });

  test(`${how}: a watch from a version sends later changes only`, async () => {
    const path = maps(await place());
    const version = await make(path, "a");
    await make(path, "b");
    await must(200, "DELETE", `${path}/a`);
    const watching = watch(`${path}?watch=1&resourceVersion=${version}`);
    assert.deepEqual(seen(await watching.next(2)), ["ADDED b", "DELETED a"]);
    watching.stop();
  });

  test(`${how}: every frame carries the version of its change, and versions rise`, async () => {
    const path = maps(await place());
    const watching = await follow(`${path}?watch=1`);
    const versions = [await make(path, "a"), await label(path, "a", "1")];
    await must(200, "DELETE", `${path}/a`);
    const frames = await watching.next(3);
    const frameVersions = each(frames, "object.metadata.resourceVersion").map(Number);
    assert.deepEqual(frameVersions.slice(0, 2), versions.map(Number));
    assert.ok(frameVersions[2]! > frameVersions[1]!, "a deletion has a separate version");
    assert.equal(at(frames[2], "object.metadata.labels.x"), "1", "a deletion shows the last state");
    watching.stop();
  });

  test(`${how}: an object that begins to match is added, one that no longer does is deleted`, async () => {
    const path = maps(await place());
    const watching = await follow(`${path}?watch=1&labelSelector=x%3D1`);
    await make(path, "a", { x: "0" });
    const versions = [
      await label(path, "a", "1"),
      await label(path, "a", "1 ".trim()),
      await label(path, "a", "0"),
      await label(path, "a", null),
    ];
    await label(path, "a", "1");
    await must(200, "DELETE", `${path}/a`);
    const frames = await watching.next(4);
    assert.deepEqual(seen(frames), ["ADDED a", "DELETED a", "ADDED a", "DELETED a"]);
    assert.deepEqual(at(frames[1], "object.metadata.resourceVersion"), versions[2]);
    assert.equal(
      at(frames[1], "object.metadata.labels.x"),
      "1",
      "an object that stops matching is sent in its last matching state",
    );
    watching.stop();
  });

  test(`${how}: a watch from version 0 with a selector starts with the matching objects`, async () => {
    const path = maps(await place());
    await make(path, "a", { x: "1" });
    await make(path, "b", { x: "2" });
    const watching = watch(`${path}?watch=1&resourceVersion=0&labelSelector=x%3D2`);
    assert.deepEqual(seen(await watching.next()), ["ADDED b"]);
    await label(path, "a", "2");
    assert.deepEqual(seen(await watching.next()), ["ADDED a"]);
    watching.stop();
  });

  test(`${how}: one object can be watched by name, by selector and by the deprecated path`, async () => {
    const path = maps(await place());
    await make(path, "a");
    await make(path, "b");
    for (const one of [
      `${path}?watch=1&fieldSelector=metadata.name%3Db`,
      `${path.replace("/v1/", "/v1/watch/")}/b`,
    ]) {
      const watching = watch(one);
      assert.deepEqual(seen(await watching.next()), ["ADDED b"]);
      await label(path, "a", `a${one.length}`);
      await label(path, "b", `b${one.length}`);
      assert.deepEqual(seen(await watching.next()), ["MODIFIED b"]);
      watching.stop();
    }
    const watching = watch(path.replace("/v1/", "/v1/watch/"));
    assert.deepEqual(seen(await watching.next(2)).toSorted(), ["ADDED a", "ADDED b"]);
    watching.stop();
  });

  test(`${how}: a watch of one namespace receives no changes of others, a watch of all receives everything`, async () => {
    const [here, there] = [maps(await place()), maps(await place())];
    const [one, all] = [
      await follow(`${here}?watch=1`),
      await follow("/api/v1/configmaps?watch=1&labelSelector=both"),
    ];
    await make(there, "a", { both: "" });
    await make(here, "b", { both: "" });
    assert.deepEqual(seen(await one.next()), ["ADDED b"]);
    assert.deepEqual(seen(await all.next(2)), ["ADDED a", "ADDED b"]);
    one.stop();
    all.stop();
  });

  test(`${how}: events are watched in both groups, each with the fields of the group`, async () => {
    const namespace = await place();
    const [core, events] = [
      watch(`/api/v1/namespaces/${namespace}/events?watch=1`),
      watch(`/apis/events.orch.io/v1/namespaces/${namespace}/events?watch=1`),
    ];
    await must(201, "POST", `/api/v1/namespaces/${namespace}/events`, { body: coreEvent("a", namespace) });
    await must(201, "POST", `/apis/events.orch.io/v1/namespaces/${namespace}/events`, {
      body: newEvent("b", namespace),
    });
    const [fromCore, fromEvents] = [await core.next(2), await events.next(2)];
    assert.deepEqual(each(fromCore, "object.message"), ["it was tested", "it was tested"]);
    assert.deepEqual(each(fromEvents, "object.note"), ["it was tested", "it was tested"]);
    assert.deepEqual(each(fromCore, "object.apiVersion"), ["v1", "v1"]);
    core.stop();
    events.stop();
  });

  test(`${how}: field selectors of events use the field names of the group`, async () => {
    const namespace = await place();
    const [core, events] = [
      `/api/v1/namespaces/${namespace}/events`,
      `/apis/events.orch.io/v1/namespaces/${namespace}/events`,
    ];
    const watching = [
      watch(`${core}?watch=1&fieldSelector=involvedObject.name%3Dq`),
      watch(`${events}?watch=1&fieldSelector=regarding.name%3Dq`),
    ];
    await must(201, "POST", core, { body: coreEvent("a", namespace) });
    await must(201, "POST", core, {
      body: coreEvent("b", namespace, { involvedObject: { namespace, name: "q" } }),
    });
    for (const each_ of watching) {
      assert.deepEqual(seen(await each_.next()), ["ADDED b"]);
      each_.stop();
    }
    assert.equal(
      (await must(400, "GET", `${core}?watch=1&fieldSelector=regarding.name%3Dq`)).at("reason"),
      "BadRequest",
    );
    assert.equal(
      (await must(400, "GET", `${events}?watch=1&fieldSelector=involvedObject.name%3Dq`)).at("reason"),
      "BadRequest",
    );
  });
}

const { must, watch, follow, place } = cached;

test("a watch ends when its time is over, not before", async () => {
  const path = maps(await place());
  const watching = watch(`${path}?watch=1&timeoutSeconds=30`);
  const all = watching.rest();
  await new Promise((resolve) => setImmediate(resolve));
  await clock.advance(29_000);
  await must(201, "POST", path, { body: { metadata: { name: "a" } } });
  await clock.advance(2_000);
  assert.deepEqual(seen(await all), ["ADDED a"]);
});

test("a watch without a timeout gets a random one above the minimum", async () => {
  const path = maps(await place());
  const [ended, started]: [number[], number] = [[], clock.now()];
  const all = Array.from({ length: 20 }, async () => {
    await watch(`${path}?watch=1`).rest();
    ended.push(clock.now() - started);
  });
  await new Promise((resolve) => setImmediate(resolve));
  await clock.advance(1_800_000);
  assert.equal(ended.length, 0);
  await clock.advance(1_800_000);
  await Promise.all(all);
  assert.ok(new Set(ended).size > 10);
});

test("a timeout beyond the limit of a timer is long, not zero", async () => {
  const watching = watch(`${maps(await place())}?watch=1&timeoutSeconds=9223372036854775807`);
  let over = false;
  const all = watching.rest().then(() => (over = true));
  await new Promise((resolve) => setImmediate(resolve));
  await clock.advance(600_000);
  assert.equal(over, false);
  watching.stop();
  await all;
});

test("bookmarks are sent once a minute and shortly before the end, if the kind has changed", async () => {
  const path = maps(await place());
  const watching = watch(`${path}?watch=1&allowWatchBookmarks=true&timeoutSeconds=150&labelSelector=none`);
  const all = watching.rest();
  await new Promise((resolve) => setImmediate(resolve));
  await must(201, "POST", path, { body: { metadata: { name: "a" } } });
  await clock.advance(61_000);
  await clock.advance(60_000);
  const { json } = await must(200, "PATCH", `${path}/a`, { type: merge, body: { data: { x: "1" } } });
  await clock.advance(60_000);
  const frames = await all;
  assert.deepEqual(each(frames, "type"), ["BOOKMARK", "BOOKMARK"]);
  assert.deepEqual(at(frames[1], "object"), {
    kind: "ConfigMap",
    apiVersion: "v1",
    metadata: { resourceVersion: at(json, "metadata.resourceVersion"), creationTimestamp: null },
  });
});

test("bookmarks are sent only on request, and never for events", async () => {
  const namespace = await place();
  const all = [
    watch(`${maps(namespace)}?watch=1&timeoutSeconds=70`).rest(),
    watch(`/api/v1/namespaces/${namespace}/events?watch=1&allowWatchBookmarks=1&timeoutSeconds=70`).rest(),
  ];
  await new Promise((resolve) => setImmediate(resolve));
  await must(201, "POST", maps(namespace), { body: { metadata: { name: "a" } } });
  await must(201, "POST", `/api/v1/namespaces/${namespace}/events`, { body: coreEvent("a", namespace) });
  await clock.advance(80_000);
  for (const frames of await Promise.all(all)) assert.deepEqual(seen(frames), ["ADDED a"]);
});

test("initial events end with a marked bookmark if the feature gate is on", async () => {
  const path = maps(await listing.place());
  await listing.must(201, "POST", path, { body: { metadata: { name: "a" } } });
  const watching = listing.watch(
    `${path}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
  );
  const [first, mark] = await watching.next(2);
  assert.deepEqual(seen([first!]), ["ADDED a"]);
  assert.equal(mark!["type"], "BOOKMARK");
  assert.deepEqual(at(mark, "object.metadata.annotations"), { "orch.io/initial-events-end": "true" });
  assert.ok(
    Number(at(mark, "object.metadata.resourceVersion")) >=
      Number(at(first, "object.metadata.resourceVersion")),
  );
  watching.stop();
  const later = listing.watch(`${path}?watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan`);
  const next = later.next();
  await new Promise((resolve) => setImmediate(resolve));
  await listing.must(201, "POST", path, { body: { metadata: { name: "b" } } });
  assert.deepEqual(seen(await next), ["ADDED b"]);
  later.stop();
});

test("initial events are at least as new as requested: a future version is an error in the stream", async () => {
  const clock = virtualClock(start);
  const server = await serve({ clock, flags: ["--feature-gates=WatchList=true"] });
  const frames = server
    .watch(
      `${maps("default")}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=99999`,
    )
    .rest();
  await new Promise((resolve) => setImmediate(resolve));
  await clock.advance(3000);
  assert.deepEqual(each(await frames, "type"), ["ERROR"]);
  assert.deepEqual(each(await frames, "object.code"), [504]);
});

test("a version too long ago is an error in the stream, and the stream ends", async () => {
  const frames = await watch(`${maps(await place())}?watch=1&resourceVersion=1`).rest();
  assert.deepEqual(each(frames, "type"), ["ERROR"]);
  assert.deepEqual([at(frames[0], "object.code"), at(frames[0], "object.reason")], [410, "Expired"]);
});

test("a watcher that does not read falls behind without affecting others", async () => {
  const path = maps(await place());
  const stop = new AbortController();
  const { chunks } = await cached.server.inject({ path: `${path}?watch=1`, signal: stop.signal });
  const slow = chunks[Symbol.asyncIterator]();
  const fast = await follow(`${path}?watch=1`);
  await must(201, "POST", path, { body: { metadata: { name: "a" } } });
  assert.equal((await slow.next()).done, false);
  assert.deepEqual(seen(await fast.next()), ["ADDED a"]);
  const data = { x: "x".repeat(900_000) };
  for (let i = 0; i < 12; i++)
    await must(200, "PATCH", `${path}/a`, { type: merge, body: { data: { ...data, i: String(i) } } });
  assert.equal((await fast.next(12)).length, 12);
  let frames = 0;
  while (!(await slow.next()).done) frames++;
  assert.ok(frames > 0 && frames < 12, `${frames} frames were waiting`);
  fast.stop();
});

test("watches end when the server stops", async () => {
  const other = await serve();
  const all = other.watch(`${maps("default")}?watch=1`).rest();
  await new Promise((resolve) => setImmediate(resolve));
  await other.server.stop();
  assert.deepEqual(await all, []);
});

test("events that expire are deleted for watchers, too", async () => {
  const namespace = await place();
  await must(201, "POST", `/api/v1/namespaces/${namespace}/events`, { body: coreEvent("a", namespace) });
  const watching = watch(`/api/v1/namespaces/${namespace}/events?watch=1&timeoutSeconds=9000`);
  await watching.next();
  const next = watching.next();
  await clock.advance(3_601_000);
  assert.deepEqual(seen(await next), ["DELETED a"]);
  watching.stop();
});

test("watches in YAML are rejected", async () => {
  await must(406, "GET", `${maps("default")}?watch=1`, { accept: "application/yaml" });
});

test("a watch with an unsuitable list representation ends at the first object", async () => {
  const namespace = await cached.place();
  await cached.must(201, "POST", maps(namespace), { body: { metadata: { name: "a" } } });
  const accept = "application/json;as=PartialObjectMetadataList;g=meta.orch.io;v=v1";
  const answer = await cached.must(200, "GET", `${maps(namespace)}?watch=1`, { accept });
  assert.equal(answer.text, "");
});

for (const method of ["POST", "PUT", "DELETE", "PATCH", "HEAD"]) {
  test(`the deprecated watch path does not accept ${method}`, async () => {
    const answer = await cached.ask(method, "/api/v1/watch/configmaps", { body: {} });
    assert.equal(answer.status, 405);
  });
}

test("a watch whose client does not read its initial events holds no seat", async () => {
  const path = maps(await cached.place());
  const trusted = { name: "reader", groups: ["system:authenticated"] };
  const roleRef = { apiGroup: "rbac.authorization.orch.io", kind: "ClusterRole", name: "cluster-admin" };
  const binding = { metadata: { name: "reader" }, roleRef, subjects: [{ kind: "User", name: trusted.name }] };
  const bindings = "/apis/rbac.authorization.orch.io/v1/clusterrolebindings";
  await cached.must(201, "POST", bindings, { body: binding });
  const data = { text: "x".repeat(300 * 1024) };
  for (const name of ["a", "b", "c"])
    await cached.must(201, "POST", path, { body: { metadata: { name }, data } });
  const executing = async (): Promise<number> => {
    const { text } = await cached.must(200, "GET", "/metrics");
    const gauge =
      /^apiserver_flowcontrol_current_executing_requests\{flow_schema="global-default",.*\} (\d+)$/m;
    return Number(gauge.exec(text)?.[1]);
  };
  const watching = await cached.server.inject({ method: "GET", path: `${path}?watch=1`, trusted });
  const chunks = watching.chunks[Symbol.asyncIterator]();
  await chunks.next();
  assert.equal(await executing(), 1);
  await clock.advance(1000);
  assert.equal(await executing(), 0);
  for (let rest = 2; rest > 0; rest--) assert.match(String((await chunks.next()).value), /"ADDED"/);
  await chunks.return?.();
});
