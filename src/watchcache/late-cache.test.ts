import assert from "node:assert/strict";
import { test } from "node:test";
import { selectEverything, systemClock } from "#base";
import { openMemory } from "#store";
import { withRevision } from "./cached-object.ts";
import type { Reader } from "./resource-cache.ts";
import { StoreReflector } from "./store-reflector.ts";

const read: Reader = ({ key, revision, value }) =>
  withRevision(key, revision, value, { name: key, namespace: "", labels: {}, fields: {} });
const value = (name: string): Uint8Array =>
  Buffer.from(JSON.stringify({ kind: "K", apiVersion: "v1", metadata: { name, uid: "u" } }));

async function followed() {
  const store = await openMemory({});
  const stop = new AbortController();
  const reflector = new StoreReflector({ store, prefix: "/r/", clock: systemClock, signal: stop.signal });
  await reflector.start();
  const put = (key: string) => store.write({ key, value: value(key), expect: "any" });
  return { store, reflector, put, end: () => stop.abort() };
}

const latest = { below: "", selector: selectEverything, freshness: { at: "latest" } } as const;

test("a cache added later contains earlier objects and follows changes", async () => {
  const { reflector, put, end } = await followed();
  await put("/r/g/things/a");
  const cache = await reflector.add("/r/g/things/", read);
  await put("/r/g/things/b");
  const { items } = await cache.list(latest);
  assert.deepEqual(
    items.map(({ key }) => key),
    ["/r/g/things/a", "/r/g/things/b"],
  );
  end();
});

test("a cache that replaces another one ends its watches", async () => {
  const { reflector, put, end } = await followed();
  const first = await reflector.add("/r/g/things/", read);
  const over = Promise.withResolvers<void>();
  const { signal } = new AbortController();
  await first.watch(
    { below: "", selector: selectEverything, from: "state", signal },
    { deliver: () => undefined, ended: () => over.resolve() },
  );
  const second = await reflector.add("/r/g/things/", read);
  await over.promise;
  await put("/r/g/things/a");
  assert.equal((await second.list(latest)).items.length, 1);
  assert.equal(first.count(), 0);
  end();
});
