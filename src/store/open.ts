// Selects the store backend of a server. Each backend is loaded only when it is chosen.

import type { Clock } from "#base";
import type { SqliteOptions } from "./sqlite/sqlite.ts";
import type { EtcdOptions } from "./etcd/etcd.ts";
import type { Store } from "./store.ts";

export type StoreChoice =
  | { readonly memory: true; readonly clock?: Clock }
  | SqliteOptions
  | { readonly etcd: EtcdOptions };

export async function openStore(choice: StoreChoice): Promise<Store> {
  if ("etcd" in choice) return (await import("./etcd/etcd.ts")).openEtcd(choice.etcd);
  if ("dir" in choice) return (await import("./sqlite/sqlite.ts")).openSqlite(choice);
  const { memory: _, ...options } = choice;
  return (await import("./memory/memory.ts")).openMemory(options);
}
