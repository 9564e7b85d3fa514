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
export function followClaims(services: Resource, signal: AbortSignal): ServiceClaims {
  const { source, prefix } = services;
  const owners = new Map<string, Set<string>>();
  const claims = new Map<string, readonly string[]>();

  const set = (key: string, now: readonly string[]): void => {
    const owner = key.slice(prefix.length);
    for (const claim of claims.get(owner) ?? []) {
      const left = owners.get(claim)!;
      left.delete(owner);
      if (left.size === 0) owners.delete(claim);
    }
    if (now.length === 0) claims.delete(owner);
    else claims.set(owner, now);
    for (const claim of now) owners.getOrInsertComputed(claim, () => new Set()).add(owner);
  };
  const see = (cached: CachedObject): void =>
    set(cached.key, claimsOf((services.objectOf(cached) as unknown as Service).spec));
  const watcher: FrameSink = {
    deliver: (frames) => {
      for (const { type, item } of frames) {
        if (type === "DELETED") set(item.key, []);
        else see(item);
      }
    },
    // The cache was reinitialized.
    ended: () => begin(),
  };
  const begin = (): void => {
    if (signal.aborted) return;
    owners.clear();
    claims.clear();
    for (const cached of source.listCached("")) see(cached);
    // The cache has this revision, so the watch starts without a gap.
    void source.watch({ below: "", selector: selectEverything, from: source.lastChange(), signal }, watcher);
  };
  begin();
  return {
    taken: (claim, except) => {
      const having = owners.get(claim);
      return having !== undefined && !(having.size === 1 && having.has(except));
    },
  };
}
