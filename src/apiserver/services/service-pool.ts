// Gives services their cluster addresses and node ports. What is taken is what the cached services have, and what requests under way were promised.
import type { Service, ServiceSpec } from "#api";
import { type Clock, type FieldError, internal, invalidValue, selectEverything } from "#base";
import type { PortRange } from "#options";
import type { Circumstances, Resource, ServicePool } from "#registry";
import type { Held } from "#watchcache";
import { type AddressRange, addressRange, canonicalAddress } from "./address-range.ts";

export interface PoolOptions {
  /** One address block, or two of different families; the first is the one services get when they do not ask. */
  readonly ranges: readonly string[];
  readonly ports: PortRange;
  readonly clock: Clock;
  /** From 0 to 1, below 1. */
  readonly random?: () => number;
}

export interface ClusterServicePool extends ServicePool {
  /** The address of the server's own service: the first of all. */
  readonly ownAddress: string;
  /** Says where the services are. Until then none are known. */
  attach(services: Resource, signal: AbortSignal): void;
}

/** A request that was promised something and then refused gives it back by waiting. */
const promiseMilliseconds = 30_000;
const defaultRange = "10.0.0.0/24";

/** Something taken by a request whose write has not been seen yet. */
interface Promised {
  readonly owner: string;
  readonly service: WeakRef<Service>;
  readonly until: number;
}

export function servicePool({ ranges: given, ports, clock, random = Math.random }: PoolOptions): ClusterServicePool {
  const ranges = (given.length > 0 ? given : [defaultRange]).map(addressRange);
  const portTexts: Candidates = { size: ports.to - ports.from + 1, at: (position: number) => String(ports.from + position - 1) };
  const promises = new Map<string, Promised>();
  const known = new WeakMap<Held, readonly string[]>();
  const rounds = goRound(random);
  let services: Resource | undefined;

  const claimsOfHeld = (held: Held): readonly string[] => {
    let claims = known.get(held);
    if (!claims) known.set(held, (claims = claimsOf((services!.objectOf(held) as unknown as Service).spec)));
    return claims;
  };
  /** Everything that this service cannot have. */
  const takenFrom = (service: Service): Set<string> => {
    const owner = keyOf(service);
    const taken = new Set<string>();
    for (const held of services?.source.peekAll("") ?? []) if (held.key !== services!.prefix + owner) for (const claim of claimsOfHeld(held)) taken.add(claim);
    for (const [claim, promised] of promises) {
      if (promised.until <= clock.now()) promises.delete(claim);
      else if (promised.owner !== owner && promised.service.deref() !== service) taken.add(claim);
    }
    return taken;
  };

  return {
    families: ranges.map(({ family }) => family) as [AddressRange["family"]],
    ownAddress: ranges[0]!.at(1),
    allocate: (service, old, { dryRun }: Circumstances) => {
      const share = shareOf(takenFrom(service), rounds);
      const errors = [
        ...addressesFor(service.spec, old?.spec, ranges, share),
        ...nodePortsFor(service.spec, old?.spec, portTexts, ports, share),
        ...healthPortFor(service.spec, old?.spec, portTexts, ports, share),
      ];
      const until = clock.now() + promiseMilliseconds;
      if (!dryRun && errors.length === 0) for (const claim of claimsOf(service.spec)) promises.set(claim, { owner: keyOf(service), service: new WeakRef(service), until });
      return errors;
    },
    attach: (resource, signal) => {
      services = resource;
      const seen = (held: Held): void => {
        const owner = held.key.slice(resource.prefix.length);
        for (const [claim, promised] of promises) if (promised.owner === owner) promises.delete(claim);
      };
      const follow = async (): Promise<void> => {
        while (!signal.aborted) {
          const over = Promise.withResolvers<void>();
          signal.addEventListener("abort", () => over.resolve(), { once: true });
          const watcher = { deliver: (frames: readonly { readonly item: Held }[]) => frames.forEach(({ item }) => seen(item)), ended: () => over.resolve() };
          await resource.source.watch({ below: "", selector: selectEverything, from: "now", signal }, watcher).then(() => over.promise, () => clock.sleep(1000, signal).catch(() => undefined)); // prettier-ignore
        }
      };
      void follow();
    },
  };
}

const keyOf = ({ metadata }: Service): string => `${metadata.namespace}/${metadata.name}`;
const portClaim = (port: number | string): string => `port ${port}`;
const isHeadless = ({ clusterIP, clusterIPs }: ServiceSpec): boolean => clusterIP === "None" || clusterIPs?.[0] === "None";

function claimsOf(spec: ServiceSpec): string[] {
  if (spec.type === "ExternalName") return [];
  const addresses = isHeadless(spec) ? [] : (spec.clusterIPs ?? []).map(canonicalAddress);
  const nodePorts = (spec.ports ?? []).flatMap(({ nodePort }) => (nodePort ? [nodePort] : []));
  return [...addresses, ...[...nodePorts, ...(spec.healthCheckNodePort ? [spec.healthCheckNodePort] : [])].map(portClaim)];
}

/** What one request may take, and has taken. */
interface Share {
  /** False when somebody else has it. */
  take(claim: string): boolean;
  /** Something free among these, preferably behind the first `keep`; undefined when there is none. */
  any(candidates: Candidates, keep: number, claim: (text: string) => string): string | undefined;
}

interface Candidates {
  readonly size: number;
  /** From 1 to `size`. */
  at(position: number): string;
}

/**
 * Where to look for something free: from anywhere on, and then behind what was given last.
 * So what is given back comes to others as late as can be, and who still has the old address does not reach a stranger.
 */
interface Rounds {
  next(candidates: Candidates, from: number, count: number): number;
  gave(candidates: Candidates, position: number): void;
}

function goRound(random: () => number): Rounds {
  const given = new WeakMap<Candidates, number>();
  return {
    next: (candidates, from, count) => {
      const last = given.get(candidates) ?? 0;
      return last < from || last >= from + count ? from + Math.floor(random() * count) : last + 1;
    },
    gave: (candidates, position) => void given.set(candidates, position),
  };
}

function shareOf(taken: Set<string>, rounds: Rounds): Share {
  const take = (claim: string): boolean => {
    if (taken.has(claim)) return false;
    taken.add(claim);
    return true;
  };
  const among = (candidates: Candidates, from: number, count: number, claim: (text: string) => string): string | undefined => {
    const start = rounds.next(candidates, from, count) - from;
    for (let step = 0; step < count; step++) {
      const position = from + ((start + step) % count);
      const text = candidates.at(position);
      if (!take(claim(text))) continue;
      rounds.gave(candidates, position);
      return text;
    }
    return undefined;
  };
  return { take, any: (candidates, keep, claim) => among(candidates, keep + 1, candidates.size - keep, claim) ?? among(candidates, 1, keep, claim) };
}

/** Low addresses are left to those who choose theirs: a sixteenth of the range, within bounds. */
const keptAddresses = (size: number): number => (size < 32 ? 0 : Math.min(Math.max(16, Math.floor(size / 16)), 256));

function addressesFor(spec: ServiceSpec, old: ServiceSpec | undefined, ranges: readonly AddressRange[], share: Share): FieldError[] {
  if (spec.type === "ExternalName" || isHeadless(spec)) return [];
  const asked = spec.clusterIPs ?? [];
  const addresses: string[] = [];
  for (const [position, family] of (spec.ipFamilies ?? []).entries()) {
    const range = ranges.find((each) => each.family === family)!;
    const wanted = asked[position];
    const refused = (why: string): FieldError[] => [invalidValue("spec.clusterIPs", asked, `failed to allocate IP ${wanted}: ${why}`)];
    // What the service has already stays its own, even outside a range that has changed.
    const kept = wanted !== undefined && old?.clusterIPs?.includes(wanted) === true;
    if (wanted !== undefined && !kept && !range.contains(wanted)) return refused(`it is not in the range of service addresses, ${range.text}`);
    if (wanted !== undefined && !kept && !share.take(canonicalAddress(wanted))) return refused("provided IP is already allocated");
    const address = wanted ?? share.any(range, keptAddresses(range.size), (text) => text);
    if (address === undefined) throw internal(`failed to allocate a service IP: the range ${range.text} is full`);
    addresses.push(address);
  }
  if (addresses.length === 0) return [];
  spec.clusterIPs = addresses;
  spec.clusterIP = addresses[0]!;
  return [];
}

const anyPort = (texts: Candidates, share: Share): number => {
  const port = share.any(texts, 0, portClaim);
  if (port === undefined) throw internal("failed to allocate a node port: the range is full");
  return Number(port);
};

/** A port that was asked for, unless it cannot be had. */
function portErrors(port: number, { from, to }: PortRange, share: Share, field: string): FieldError[] {
  if (port < from || port > to) return [invalidValue(field, port, `provided port is not in the valid range. The range of valid ports is ${from}-${to}`)];
  return share.take(portClaim(port)) ? [] : [invalidValue(field, port, "provided port is already allocated")];
}

/** Ports with one number and several protocols share a node port when they are new. */
function nodePortsFor(spec: ServiceSpec, old: ServiceSpec | undefined, texts: Candidates, range: PortRange, share: Share): FieldError[] {
  if (spec.type !== "NodePort" && spec.type !== "LoadBalancer") return [];
  const given = spec.type === "NodePort" || spec.allocateLoadBalancerNodePorts !== false;
  const before = new Set((old?.ports ?? []).flatMap(({ nodePort }) => nodePort || []));
  const byPort = new Map<number, number>();
  const had = new Set<number>();
  for (const [position, port] of (spec.ports ?? []).entries()) {
    if (!port.nodePort && !given) continue;
    const shared = old ? undefined : (byPort.get(port.port) ?? (spec.ports ?? []).find((each) => each.port === port.port && each.nodePort)?.nodePort);
    const wanted = port.nodePort || shared;
    if (wanted && !had.has(wanted)) {
      const errors = before.has(wanted) ? [] : portErrors(wanted, range, share, `spec.ports[${position}].nodePort`);
      if (errors.length > 0) return errors;
      share.take(portClaim(wanted));
    }
    port.nodePort = wanted ?? anyPort(texts, share);
    byPort.set(port.port, byPort.get(port.port) ?? port.nodePort);
    had.add(port.nodePort);
  }
  return [];
}

function healthPortFor(spec: ServiceSpec, old: ServiceSpec | undefined, texts: Candidates, range: PortRange, share: Share): FieldError[] {
  if (spec.type !== "LoadBalancer" || spec.externalTrafficPolicy !== "Local") return [];
  if (spec.healthCheckNodePort && spec.healthCheckNodePort === old?.healthCheckNodePort) return [];
  if (spec.healthCheckNodePort) return portErrors(spec.healthCheckNodePort, range, share, "spec.healthCheckNodePort");
  spec.healthCheckNodePort = anyPort(texts, share);
  return [];
}
