import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualClock } from "#base";
import { type EncryptionProvider, aesGcm, encrypted, openMemory } from "#store";
import { by, encodedThing, keysOf, openCached, prefix, readThing, turns, watchOf } from "./source.fixture.ts";
import { StoreReflector } from "./store-reflector.ts";

const lost = aesGcm("lost", Buffer.alloc(32, 1));
const kept = aesGcm("kept", Buffer.alloc(32, 2));

/** A store with n/a encrypted by a key that is lost, and m/b and n/c by one that is not. */
async function harness(providers: EncryptionProvider[]) {
  const memory = await openMemory();
  for (const [name, key] of [
    ["n/a", lost],
    ["m/b", kept],
    ["n/c", kept],
  ] as const)
    await encrypted(memory, [key]).write({
      key: prefix + name,
      value: encodedThing(name, {}),
      expect: "absent",
    });
  const clock = virtualClock();
  const stop = new AbortController();
  const store = encrypted(memory, () => providers);
  const reported: unknown[] = [];
  const feed = new StoreReflector({
    store,
    prefix: "/test/",
    clock,
    signal: stop.signal,
    onUnreadable: (...given) => reported.push(given.slice(0, 2)),
  });
  const cache = feed.cache(prefix, readThing);
  await feed.start();
  return {
    memory,
    clock,
    store,
    feed,
    cache,
    reported,
    list: async (below: string) =>
      keysOf(await cache.list({ below, selector: by(""), freshness: { at: "latest" } })),
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await feed.stopped();
      await memory.close();
    },
  };
}

const latest = { at: "latest" } as const;

test("an undecodable object fails only requests for it", async () => {
  await using at = await harness([kept]);
  assert.deepEqual(at.reported, [[prefix, 1]]);
  await assert.rejects(at.cache.get("n/a", latest), { name: "DecryptionFailed" });
  assert.ok(await at.cache.get("n/c", latest));
  await assert.rejects(at.list("n/"), { name: "DecryptionFailed" });
  await assert.rejects(at.list(""), { name: "DecryptionFailed" });
  assert.deepEqual(await at.list("m/"), ["m/b@3"]);
  const watching = at.cache.watch(
    { below: "", selector: by(""), from: "state", signal: new AbortController().signal },
    { deliver: () => undefined, ended: () => undefined },
  );
  await assert.rejects(watching, { name: "DecryptionFailed" });
});

test("an undecodable object cannot be overwritten by a create, and lists work again after its deletion", async () => {
  await using at = await harness([kept]);
  const value = encodedThing("n/a", {});
  const created = await at.store.write({ key: `${prefix}n/a`, value, expect: "absent" });
  assert.equal(created.done, false);
  await at.memory.write({ key: `${prefix}n/a`, value: null, expect: "any" });
  await at.feed.current();
  assert.deepEqual(await at.list("n/"), ["n/c@4"]);
});

test("an object becomes readable when its key returns, on request and by itself", async () => {
  const providers = [kept];
  await using at = await harness(providers);
  providers.push(lost);
  assert.deepEqual(await at.list("n/"), ["n/a@2", "n/c@4"]);
  assert.ok(at.cache.getCached("n/a"));

  const others = [kept];
  await using alone = await harness(others);
  others.push(lost);
  await turns();
  await alone.clock.advance(10_000);
  await turns();
  assert.ok(alone.cache.getCached("n/a"));
});

test("an undecodable change ends the watches that would receive it", async () => {
  await using at = await harness([kept, lost]);
  const watched = await watchOf(at.cache, { from: 4 });
  const other = encrypted(at.memory, [aesGcm("other", Buffer.alloc(32, 3)), kept]);
  await other.write({ key: `${prefix}n/c`, value: encodedThing("n/c", {}), expect: "any" });
  await at.feed.current();
  await turns();
  assert.equal(watched.over(), true);
  await assert.rejects(at.cache.get("n/c", latest), { name: "DecryptionFailed" });
});

const garbage = Buffer.from('{"kind":');

test("a malformed value fails only requests for it, and the watch of the store continues", async () => {
  const at = await openCached();
  await at.put("m/b");
  const watched = await watchOf(at.source);
  await at.store.write({ key: `${prefix}n/a`, value: garbage, expect: "absent" });
  await at.settle();
  assert.equal(watched.over(), true);
  for (let tries = 0; tries < 2; tries++)
    await assert.rejects(at.source.get("n/a", latest), { name: "SyntaxError" });
  assert.ok(await at.source.get("m/b", latest));
  await at.put("n/a");
  await at.settle();
  assert.ok(await at.source.get("n/a", latest));
  assert.deepEqual(at.restarts, []);
  await at.close();
});

test("a malformed value is skipped when everything is loaded, and in an added cache", async () => {
  const store = await openMemory();
  await store.write({ key: `${prefix}n/a`, value: garbage, expect: "absent" });
  await store.write({ key: `${prefix}n/b`, value: encodedThing("n/b", {}), expect: "absent" });
  const at = await openCached({ store });
  for (const opened of [() => at.source, () => at.feed.add(prefix, readThing)]) {
    const cache = await opened();
    assert.ok(await cache.get("n/b", latest));
    await assert.rejects(cache.get("n/a", latest), { name: "SyntaxError" });
  }
  assert.deepEqual(at.restarts, []);
  await at.close();
});

test("an unavailable key service is called once for all objects encrypted by it", async () => {
  let decryptions = 0;
  const away: EncryptionProvider = {
    ...lost,
    open: async () => {
      decryptions++;
      throw new Error("away");
    },
  };
  const memory = await openMemory();
  for (let n = 0; n < 50; n++)
    await encrypted(memory, [lost]).write({ key: `/x/${n}`, value: Buffer.from("v"), expect: "absent" });
  const page = await encrypted(memory, [away]).read({ prefix: "/x/", unreadable: "mark" });
  assert.deepEqual(
    [page.entries.length, page.entries.every((one) => one.unreadable), decryptions],
    [50, true, 1],
  );
  await memory.close();
});
