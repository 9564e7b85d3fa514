// An index of the addresses and node ports in use by services, kept up to date by a watch, so that lookups
// need not scan all services.
import type { Service, ServiceSpec } from "#api";
import { selectEverything } from "#base";
import type { Resource } from "#registry";
import type { CachedObject, FrameSink } from "#watchcache";
import { canonicalAddress } from "./address-range.ts";

export interface ServiceClaims {
  /** Reports whether a service other than `except` holds the claim. */
  taken(claim: string, except: string): boolean;
}

/** Returns the exclusive values of a service: its cluster IPs and node ports. */
export function claimsOf(spec: ServiceSpec): string[] {
  if (spec.type === "ExternalName") return [];
  const addresses = isHeadless(spec) ? [] : (spec.clusterIPs ?? []).map(canonicalAddress);
  const nodePorts = (spec.ports ?? []).flatMap(({ nodePort }) => nodePort || []);
  const ports = [...nodePorts, ...(spec.healthCheckNodePort ? [spec.healthCheckNodePort] : [])];
  // Ports of different protocols may share a node port.
  return [...new Set([...addresses, ...ports.map(portClaim)])];
}

export const portClaim = (port: number | string): string => `port ${port}`;
export const isHeadless = ({ clusterIP, clusterIPs }: ServiceSpec): boolean =>
  clusterIP === "None" || clusterIPs?.[0] === "None";

/**
 * Indexes the claims of all services in the cache until the signal is aborted. Owners are keys below the
 * resource's prefix, such as `default/web`.
 */
export function watchClaims(services: Resource, signal: AbortSignal): ServiceClaims {
  const { source, prefix } = services;
  const owners = new Map<string, Set<string>>();
  const claims = new Map<string, readonly string[]>();

  const set = (key: string, now: readonly string[]): void => {
    const owner = key.slice(prefix.length);
    for (const claim of claims.get(owner) ?? []) {
      const remaining = owners.get(claim)!;
      remaining.delete(owner);
      if (remaining.size === 0) owners.delete(claim);
    }
    if (now.length === 0) claims.delete(owner);
    else claims.set(owner, now);
    for (const claim of now) owners.getOrInsertComputed(claim, () => new Set()).add(owner);
  };
  const index = (cached: CachedObject): void =>
    set(cached.key, claimsOf((services.objectOf(cached) as unknown as Service).spec));
  const watcher: FrameSink = {
    deliver: (frames) => {
      for (const { type, item } of frames) {
        if (type === "DELETED") set(item.key, []);
        else index(item);
      }
    },
    // The cache was reinitialized.
    ended: () => startWatch(),
  };
  const startWatch = (): void => {
    if (signal.aborted) return;
    owners.clear();
    claims.clear();
    for (const cached of source.listCached("")) index(cached);
    // The cache has this revision, so the watch starts without a gap.
    void source.watch({ below: "", selector: selectEverything, from: source.lastChange(), signal }, watcher);
  };
  startWatch();
  return {
    taken: (claim, except) => {
      const holders = owners.get(claim);
      return holders !== undefined && !(holders.size === 1 && holders.has(except));
    },
  };
}
