// The stores of resources that --store-servers-overrides places on separate servers. Revisions of different
// stores are unrelated, so each store has a separate reflector.
import type { Log } from "#base";
import type { Dialect } from "#dialect";
import type { Strategy } from "#registry";
import type { Store } from "#store";
import type { StoreOverride } from "../options/storage.ts";
import { storageGroup } from "./storage-group.ts";

export interface StoreOverrides {
  /** Returns the store of a resource; undefined for the main store. */
  storeOf(strategy: Pick<Strategy, "resource" | "hub">): Store | undefined;
  readonly stores: readonly Store[];
}

export interface OverrideOptions {
  readonly overrides: readonly StoreOverride[];
  readonly strategies: readonly Pick<Strategy, "resource" | "hub">[];
  readonly dialect: Dialect;
  readonly log: Pick<Log, "warn">;
  open(servers: readonly string[]): Promise<Store>;
}

/**
 * Opens the stores. Overrides with the same servers share a store; overrides of unknown resources are
 * reported.
 */
export async function openOverrides(options: OverrideOptions): Promise<StoreOverrides> {
  const { overrides, strategies, dialect, log, open } = options;
  const nameOf = (group: string, resource: string): string => `${group}/${resource}`;
  const own = ({ resource, hub }: Pick<Strategy, "resource" | "hub">): string =>
    nameOf(storageGroup({ hub }, dialect), resource);
  const known = new Set(strategies.map(own));
  const byServers = new Map<string, Store>();
  const byResource = new Map<string, Store>();
  try {
    for (const { group, resource, servers } of overrides) {
      const name = nameOf(group, resource);
      if (!known.has(name)) {
        log.warn("--store-servers-overrides names no built-in resource", { group, resource });
        continue;
      }
      const at = servers.toSorted().join(";");
      const store = byServers.get(at) ?? (await open(servers));
      byServers.set(at, store);
      byResource.set(name, store);
    }
  } catch (error) {
    await Promise.all([...byServers.values()].map((store) => store.close()));
    throw error;
  }
  return { storeOf: (strategy) => byResource.get(own(strategy)), stores: [...byServers.values()] };
}
