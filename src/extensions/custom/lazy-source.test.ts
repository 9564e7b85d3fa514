import assert from "node:assert/strict";
import { test } from "node:test";
import { selectEverything, systemClock } from "#base";
import { openMemory } from "#store";
import { type ObjectSource, type Reader, StoreReflector, withRevision } from "#watchcache";
import { LazySource } from "./lazy-source.ts";

const prefix = "/r/g/things/";
const read: Reader = ({ key, revision, value }) =>
  withRevision(key, revision, value, { name: key, namespace: "", labels: {}, fields: {} });
const latest = { at: "latest" } as const;

async function opened() {
  const store = await openMemory({});
  const stop = new AbortController();
  const reflector = new StoreReflector({ store, prefix: "/r/", clock: systemClock, signal: stop.signal });
  await reflector.start();
  const value = Buffer.from(
    JSON.stringify({ kind: "K", apiVersion: "v1", metadata: { name: "a", uid: "u" } }),
  );
  await store.write({ key: `${prefix}a`, value, expect: "any" });
  const source = new LazySource({ reflector, store, prefix, reader: read, uncached: false });
  await source.get("a", latest);
  return { source, end: () => stop.abort() };
}

const reads: [name: string, count: (source: ObjectSource) => Promise<number>][] = [
  ["get", async (source) => ((await source.get("a", latest)) ? 1 : 0)],
  [
    "list",
    async (source) =>
      (await source.list({ below: "", selector: selectEverything, freshness: latest })).items.length,
  ],
];
for (const [name, count] of reads)
  test(`a ${name} in progress when the definition changes finds the object`, async () => {
    const { source, end } = await opened();
    const found = count(source);
    await Promise.resolve();
    source.close();
    assert.equal(await found, 1);
    end();
  });

test("a watch that starts while the definition changes ends", async () => {
  const { source, end } = await opened();
  const over = Promise.withResolvers<void>();
  const { signal } = new AbortController();
  const watcher = { deliver: () => undefined, ended: () => over.resolve() };
  const begun = source.watch({ below: "", selector: selectEverything, from: "now", signal }, watcher);
  await Promise.resolve();
  source.close();
  await begun;
  await over.promise;
  end();
});
