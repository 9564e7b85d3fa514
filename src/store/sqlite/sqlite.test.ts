import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
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
