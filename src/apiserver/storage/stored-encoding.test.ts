import assert from "node:assert/strict";
import { test } from "node:test";
import { openMemory } from "#store";
import { encodedSince } from "./stored-encoding.ts";

test("a store remembers since when one program has written to it, and begins anew with another", async () => {
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
  // Back to the first: what the second wrote is not its own.
  assert.equal(await encodedSince(store, "first"), await store.progress());
  await store.close();
});

test("of a store that others write to nothing is known", async () => {
  const { derived: _derived, ...remote } = await openMemory({});
  assert.equal(
    await encodedSince({ ...remote, progress: async () => 7 } as never, "first"),
    Number.POSITIVE_INFINITY,
  );
});
