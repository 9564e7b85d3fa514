import assert from "node:assert/strict";
import { test } from "node:test";
import { openMemory } from "#store";
import { encodedSince } from "./stored-encoding.ts";

test("a store records since when one build has written to it, and starts over with another build", async () => {
  const store = await openMemory({});
  const write = (key: string) => store.write({ key, value: Buffer.from("v"), expect: "absent" });
  assert.equal(await encodedSince(store, "first"), await store.progress());
  const begin = await encodedSince(store, "first");
  await write("/a");
  assert.equal(await encodedSince(store, "first"), begin);
  const second = await encodedSince(store, "second");
  assert.equal(second, await store.progress());
  assert.ok(second > begin);
  await write("/b");
  assert.equal(await encodedSince(store, "second"), second);
  // Back to the first build: the values of the second were not encoded by it.
  assert.equal(await encodedSince(store, "first"), await store.progress());
  await store.close();
});

test("nothing is recorded for a store that other servers write to", async () => {
  const { derived: _derived, ...remote } = await openMemory({});
  assert.equal(
    await encodedSince({ ...remote, progress: async () => 7 } as never, "first"),
    Number.POSITIVE_INFINITY,
  );
});
