import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { virtualClock } from "#base";
import { storeContract } from "../store.contract.ts";
import type { Store } from "../store.ts";
import { openSqlite } from "./sqlite.ts";

const root = mkdtempSync(join(tmpdir(), "store-"));
after(() => rmSync(root, { recursive: true }));
const clocks = new WeakMap<Store, ReturnType<typeof virtualClock>>();
let opened = 0;

const open = async (recentBytes?: number): Promise<Store> => {
  const clock = virtualClock(1_700_000_000_000);
  const store = await openSqlite({
    dir: join(root, String(++opened)),
    clock,
    ...(recentBytes !== undefined && { recentBytes }),
  });
  clocks.set(store, clock);
  return store;
};
const elapse = async (store: Store, seconds: number): Promise<void> =>
  clocks.get(store)!.advance(seconds * 1000);

storeContract("sqlite", () => open(), [], { elapse, reuse: true });
storeContract("sqlite that reads everything from disk", () => open(0), [], { elapse, reuse: true });

test("only values read from disk are in lent memory", async () => {
  for (const [recentBytes, lentTimes] of [
    [0, 1],
    [undefined, 0],
  ] as const) {
    const store = await open(recentBytes);
    const revisions: number[] = [];
    for (const name of ["a", "b"]) {
      const outcome = await store.write({ key: `/${name}`, value: Buffer.from(name), expect: "absent" });
      assert.ok(outcome.done);
      revisions.push(outcome.revision);
    }
    const lent: Uint8Array[] = [];
    const values = store.local!("")!.values(revisions, (memory) => lent.push(memory));
    assert.equal(lent.length, lentTimes);
    for (const memory of lent)
      assert.ok([...values.values()].every(({ buffer }) => buffer === memory.buffer));
    await store.close();
  }
});
