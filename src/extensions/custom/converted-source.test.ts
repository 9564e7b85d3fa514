// Objects whose labels change on conversion are selected by the converted labels.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { selector, systemClock } from "#base";
import { eventually } from "#kit";
import { openMemory } from "#store";
import { type CachedObject, type Frame, type Reader, StoreReflector, withRevision } from "#watchcache";
import { ConvertedSource } from "./converted-source.ts";

const prefix = "/r/g/things/";

function cached(key: string, revision: number, labels: Record<string, string>): CachedObject {
  const name = key.slice(prefix.length);
  const object = { kind: "K", apiVersion: "v1", metadata: { name, uid: "u", labels } };
  const value = Buffer.from(JSON.stringify(object));
  return withRevision(key, revision, value, { name, namespace: "", labels, fields: {} });
}
const labelsOf = (text: string): Record<string, string> =>
  (JSON.parse(text) as { metadata: { labels: Record<string, string> } }).metadata.labels;
const read: Reader = ({ key, revision, value }) =>
  cached(key, revision, labelsOf(Buffer.from(value).toString()));

/** Conversion copies the label `once` of the stored object to the label `now`. */
async function opened(t: TestContext) {
  const store = await openMemory({});
  const stop = new AbortController();
  t.after(() => stop.abort());
  const reflector = new StoreReflector({ store, prefix: "/r/", clock: systemClock, signal: stop.signal });
  const base = reflector.cache(prefix, read);
  await reflector.start();
  const convert = async ({ key, revision, json }: CachedObject): Promise<CachedObject> =>
    cached(key, revision, { now: labelsOf(json.toString())["once"]! });
  const source = new ConvertedSource({
    base,
    convert,
    external: true,
    changesLabels: true,
    prefix,
    signal: stop.signal,
  });
  const put = async (name: string, once: string): Promise<void> => {
    const value = Buffer.from(JSON.stringify({ metadata: { name, uid: "u", labels: { once } } }));
    await store.write({ key: prefix + name, value, expect: "any" });
  };
  return { source, put, signal: stop.signal, store };
}
const odd = selector([{ key: "now", operator: "in", values: ["odd"] }], []);

test("a paged list is selected by converted labels", async (t) => {
  const { source, put } = await opened(t);
  for (let i = 0; i < 250; i++) await put(`n${String(i).padStart(3, "0")}`, i % 2 ? "odd" : "even");
  const freshness = { at: "latest" } as const;
  const whole = await source.list({ below: "", selector: odd, freshness });
  assert.equal(whole.items.length, 125);
  assert.equal(whole.next, undefined);
  const names: string[] = [];
  let after: string | undefined;
  do {
    const query = { below: "", selector: odd, freshness, limit: 60, ...(after && { after }) };
    const { items, next } = await source.list(query);
    names.push(...items.map(({ name }) => name));
    after = next;
  } while (after !== undefined);
  assert.deepEqual(
    names,
    whole.items.map(({ name }) => name),
  );
  const stored = selector([{ key: "once", operator: "in", values: ["odd"] }], []);
  assert.deepEqual((await source.list({ below: "", selector: stored, freshness })).items, []);
});

test("a watch reports objects as added and deleted by their converted labels", async (t) => {
  const { source, put, signal, store } = await opened(t);
  await put("a", "odd");
  await put("b", "even");
  const seen: string[] = [];
  const deliver = (frames: readonly Frame[]): void => {
    for (const { type, item } of frames) seen.push(`${type} ${item.name} ${item.labels["now"]}`);
  };
  const watcher = { deliver, ended: () => void seen.push("ended") };
  await source.list({ below: "", selector: odd, freshness: { at: "latest" } });
  await source.watch({ below: "", selector: odd, from: "state", signal }, watcher);
  await put("a", "odd");
  await put("b", "odd");
  await put("a", "even");
  await store.write({ key: `${prefix}a`, value: null, expect: "any" });
  await store.write({ key: `${prefix}b`, value: null, expect: "any" });
  const all = ["ADDED a odd", "MODIFIED a odd", "ADDED b odd", "DELETED a odd", "DELETED b odd"];
  await eventually(async () => seen.length >= all.length);
  assert.deepEqual(seen, all);
});

test("objects are converted a few at a time, and only in their latest state", async (t) => {
  const { source, put, signal } = await opened(t);
  for (let i = 0; i < 50; i++) await put(`n${i}`, "even");
  const conversions: { readonly object: CachedObject; readonly end: () => void }[] = [];
  let ended = 0;
  const slow = new ConvertedSource({
    base: source,
    convert: async (object) => {
      await new Promise<void>((end) => conversions.push({ object, end }));
      return object;
    },
    external: true,
    changesLabels: false,
    prefix,
    signal,
  });
  slow.follow();
  await eventually(async () => conversions.length === 8);
  for (const once of ["odd", "even", "odd"]) await put("n49", once);
  await source.list({ below: "", selector: odd, freshness: { at: "latest" } });
  while (ended < 50) {
    await eventually(async () => conversions.length === Math.min(ended + 8, 50));
    conversions[ended++]!.end();
  }
  assert.equal(new Set(conversions.map(({ object }) => object.key)).size, 50);
  const last = conversions.find(({ object }) => object.name === "n49")!;
  assert.equal(last.object.labels["now"], "odd");
});
