import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { virtualClock } from "#base";
import { aesGcm } from "./encryption/aes-gcm.ts";
import { encrypted, type EncryptionProvider, identity } from "./encrypted.ts";
import { DecryptionFailed } from "./errors.ts";
import { openMemory } from "./memory/memory.ts";
import { openSqlite } from "./sqlite/sqlite.ts";
import { storeContract } from "./store.contract.ts";
import type { Store } from "./store.ts";

const root = mkdtempSync(join(tmpdir(), "store-"));
after(() => rmSync(root, { recursive: true }));
const secret = (fill: number, length = 32): Uint8Array => new Uint8Array(length).fill(fill);
const old = aesGcm("old", secret(1));
const current = aesGcm("current", secret(2, 16));

const clocks = new WeakMap<Store, ReturnType<typeof virtualClock>>();
const elapse = async (store: Store, seconds: number): Promise<void> =>
  clocks.get(store)!.advance(seconds * 1000);
let opened = 0;
const wrapped = async (
  open: (clock: ReturnType<typeof virtualClock>) => Promise<Store>,
  providers: readonly EncryptionProvider[],
): Promise<Store> => {
  const clock = virtualClock(1_700_000_000_000);
  const store = encrypted(await open(clock), providers);
  clocks.set(store, clock);
  return store;
};

storeContract("encrypted memory", () => wrapped((clock) => openMemory({ clock }), [current, old]), [], {
  elapse,
});
storeContract(
  "memory encrypted by nothing",
  () => wrapped((clock) => openMemory({ clock }), [identity]),
  [],
  { elapse },
);
storeContract(
  "encrypted sqlite",
  () => wrapped((clock) => openSqlite({ dir: join(root, String(++opened)), clock }), [current]),
  [],
  { elapse, reuse: true },
);

const value = Buffer.from("a secret that must not be seen");
const read = async (store: Store, key: string): Promise<string | undefined> => {
  const [entry] = (await store.read({ key })).entries;
  return entry && Buffer.from(entry.value).toString();
};

test("stored bytes carry the key's name and nothing of the value, and differ each time", async () => {
  const memory = await openMemory();
  const store = encrypted(memory, [current]);
  for (const key of ["a", "b"]) await store.write({ key, value, expect: "any" });
  const [a, b] = (await memory.read({ prefix: "" })).entries.map((entry) =>
    Buffer.from(entry.value).toString("latin1"),
  );
  assert.match(a!, /^enc:aesgcm:v1:current:/);
  assert.ok(!a!.includes("secret"));
  assert.notEqual(a, b);
  assert.equal(a!.length, "enc:aesgcm:v1:current:".length + 12 + value.length + 16);
});

test("the first provider encrypts and all decrypt, so a key can be rotated", async () => {
  const memory = await openMemory();
  await encrypted(memory, [identity]).write({ key: "plain", value, expect: "any" });
  await encrypted(memory, [old, identity]).write({ key: "old", value, expect: "any" });
  const store = encrypted(memory, [current, old, identity]);
  await store.write({ key: "current", value, expect: "any" });
  for (const key of ["plain", "old", "current"]) assert.equal(await read(store, key), value.toString());
  await store.write({ key: "old", value, expect: "any" });
  assert.equal(await read(encrypted(memory, [current]), "old"), value.toString());
});

test("the marker is configurable, and providers may differ by key", async () => {
  const memory = await openMemory();
  const store = encrypted(memory, (key) => (key.startsWith("secrets/") ? [current] : [identity]), {
    markers: ["mine:"],
  });
  await store.write({ key: "secrets/a", value, expect: "any" });
  await store.write({ key: "other/a", value, expect: "any" });
  const storedTexts = (await memory.read({ prefix: "" })).entries.map((entry) =>
    Buffer.from(entry.value).toString("latin1").slice(0, 13),
  );
  assert.deepEqual(storedTexts, ["a secret that", "mine:aesgcm:v"]);
});

const unreadableCases: [
  name: string,
  spoil: (memory: Store) => Promise<void>,
  providers: readonly EncryptionProvider[],
  error: RegExp,
][] = [
  [
    "by a flipped bit",
    (memory) => rewrite(memory, (bytes) => bytes.with(40, bytes[40]! ^ 1)),
    [old],
    /"k" cannot be decrypted: aesgcm:v1:old/,
  ],
  [
    "by being moved to another key",
    async (memory) => move(memory, "other"),
    [old],
    /"other" cannot be decrypted/,
  ],
  [
    "by being cut short",
    (memory) => rewrite(memory, (bytes) => bytes.subarray(0, 30)),
    [old],
    /"k" cannot be decrypted: aesgcm:v1:old: it is too short/,
  ],
  [
    "by a missing provider",
    async () => undefined,
    [current],
    /no provider is configured for "aesgcm:v1:old:"/,
  ],
  [
    "by identity, which does not read encrypted values",
    async () => undefined,
    [identity],
    /no provider is configured for "aesgcm:v1:old:"/,
  ],
  [
    "by not being encrypted",
    (memory) => rewrite(memory, () => Buffer.from("plain")),
    [old],
    /"k" cannot be decrypted: it is not encrypted/,
  ],
  [
    "by another secret with the same name",
    async () => undefined,
    [aesGcm("old", secret(9))],
    /"k" cannot be decrypted: aesgcm:v1:old/,
  ],
];
async function rewrite(memory: Store, change: (bytes: Uint8Array) => Uint8Array): Promise<void> {
  const [entry] = (await memory.read({ key: "k" })).entries;
  await memory.write({ key: "k", value: change(entry!.value), expect: "any" });
}
async function move(memory: Store, to: string): Promise<void> {
  const [entry] = (await memory.read({ key: "k" })).entries;
  await memory.write({ key: to, value: entry!.value, expect: "any" });
}
for (const [name, damage, providers, error] of unreadableCases) {
  test(`a value made unreadable ${name} is reported with its key`, async () => {
    const memory = await openMemory();
    await encrypted(memory, [old]).write({ key: "k", value, expect: "any" });
    await damage(memory);
    const store = encrypted(memory, providers);
    await assert.rejects(
      store.read({ prefix: "" }),
      (thrown) => thrown instanceof DecryptionFailed && error.test(thrown.message),
    );
    await assert.rejects(async () => {
      for await (const _ of store.watch({ prefix: "" }, 0, new AbortController().signal))
        if ((await memory.status()).revision === _.through) throw new Error("delivered");
    }, DecryptionFailed);
    // Overwriting the value does not require reading it.
    const key = error.source.includes("other") ? "other" : "k";
    await store.write({ key, value, expect: "any" });
    assert.deepEqual(Buffer.from((await store.read({ key })).entries[0]!.value), Buffer.from(value));
  });
}

test("the error for a missing key names it without ciphertext that resembles a name", async () => {
  const memory = await openMemory();
  await memory.write({ key: "k", value: Buffer.from("enc:aesgcm:v1:old:luZ:\u0001"), expect: "any" });
  await assert.rejects(encrypted(memory, [current]).read({ key: "k" }), /for "aesgcm:v1:old:"$/);
});

test("an invalid key or name is refused on configuration", () => {
  assert.throws(() => aesGcm("k", new Uint8Array(31)), /"k" must have 16, 24 or 32 bytes, not 31/);
  assert.throws(() => aesGcm("", secret(1)), /must have a name/);
});

test("local reads are available for unencrypted prefixes only, derived data always", async () => {
  const memory = await openMemory();
  const isPlain = (prefix: string): boolean => prefix === "/events/";
  const store = encrypted(memory, (key) => (isPlain(key) ? [identity] : [current]), { isPlain });
  assert.equal(store.local?.("/events/"), memory.local());
  assert.equal(store.local?.("/secrets/"), undefined);
  assert.equal(encrypted(memory, [current]).local?.("/events/"), undefined);
  assert.equal(store.derived, memory.derived);
});

test("the values of a batch are sealed together; one that cannot be sealed fails only its own write", async () => {
  const sqlite = await openSqlite({ dir: join(root, "batch") });
  const batches: string[][] = [];
  const sealAll: typeof current.sealAll = (values, prefix) => {
    batches.push(values.map(({ name }) => name));
    if (values.some(({ name }) => name === "bad")) throw new Error("odd");
    return current.sealAll!(values, prefix);
  };
  const isOther = (key: string): boolean => key.startsWith("other");
  const provider = { ...current, sealAll };
  const store = encrypted(sqlite, (key) => (isOther(key) ? [old] : [provider]));
  const write = (key: string) => store.write({ key, value: Buffer.from(`of ${key}`), expect: "any" });
  const results = await Promise.allSettled(["a", "other", "bad", "b"].map(write));
  assert.deepEqual(
    results.map((result) => (result.status === "fulfilled" ? result.value : String(result.reason))),
    [{ done: true, revision: 2 }, { done: true, revision: 3 }, "Error: odd", { done: true, revision: 4 }],
  );
  assert.deepEqual(batches, [["a", "bad", "b"], ["a"], ["bad"], ["b"]]);
  for (const key of ["a", "other", "b"]) assert.equal(await read(store, key), `of ${key}`);
  assert.equal(await read(store, "bad"), undefined);
  await store.close();
});
