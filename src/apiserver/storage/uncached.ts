// Determines which resources are read directly from the store: all of them without --watch-cache, or those
// with size 0 in --watch-cache-sizes.
import type { Log } from "#base";
import type { Dialect } from "#dialect";
import type { Strategy } from "#registry";
import type { ApiserverSettings } from "../options/settings.ts";
import { storageGroup } from "./storage-group.ts";

type CacheSettings = Pick<ApiserverSettings, "watchCache" | "watchCacheSizes">;

/** Sizes of unknown resources have no effect and are reported. */
export function uncachedResources(
  { watchCache, watchCacheSizes }: CacheSettings,
  strategies: readonly Pick<Strategy, "resource" | "hub">[],
  dialect: Dialect,
  log: Pick<Log, "warn">,
): (strategy: Pick<Strategy, "resource" | "hub">) => boolean {
  if (!watchCache) return () => true;
  const nameOf = (resource: string, group: string): string => `${resource}.${group}`;
  const own = ({ resource, hub }: Pick<Strategy, "resource" | "hub">): string =>
    nameOf(resource, storageGroup({ hub }, dialect));
  const known = new Set(strategies.map(own));
  for (const { resource, group } of watchCacheSizes) {
    if (!known.has(nameOf(resource, group)))
      log.warn("--watch-cache-sizes names no built-in resource", { resource, group });
  }
  const off = new Set(
    watchCacheSizes.filter(({ size }) => size === 0).map(({ resource, group }) => nameOf(resource, group)),
  );
  return (strategy) => off.has(own(strategy));
}
