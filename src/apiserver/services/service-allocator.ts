// Allocates cluster IPs and node ports to services. In use are those of the cached services and those
// reserved for requests in flight.
import { slot } from "#admission";
import type { Service, ServiceSpec } from "#api";
import { type FieldError, internal, invalidValue } from "#base";
import type { PortRange } from "#options";
import { type Resource, type ServiceAllocator, needsHealthCheck } from "#registry";
import type { Revision, Store } from "#store";
import { type AddressRange, addressRange, canonicalAddress } from "./address-range.ts";
import {
  type ClaimReservations,
  type Secured,
  reservationsInMemory,
  reservationsInStore,
} from "./claim-reservations.ts";
import { type ServiceClaims, claimsOf, watchClaims, isHeadless, portClaim } from "./service-claims.ts";

export interface AllocatorOptions {
  /** One address range, or two of different families; services that do not ask for a family get the first. */
  readonly ranges: readonly string[];
  readonly ports: PortRange;
  /**
   * Whether the lower band of node ports is reserved for static assignment, as the lower band of addresses
   * is.
   */
  readonly keepsStaticPorts?: boolean;
  /** Returns a number from 0 (inclusive) to 1 (exclusive). */
  readonly random?: () => number;
}

/** The sources from which the allocator learns what services use. */
export interface AllocatorSources {
  readonly services: Resource;
  readonly signal: AbortSignal;
  /** Resolves once all services written so far are in the cache. */
  readonly refresh: () => Promise<void>;
  /** Resolves once the cache has all services up to a revision. */
  readonly reached: (revision: Revision) => Promise<void>;
  /** Where servers that share a store keep their reservations. */
  readonly shared?: { readonly store: Store; readonly prefix: string };
}

export interface ClusterServiceAllocator extends ServiceAllocator {
  /** The cluster IP of the API server's own service: the first address of the first range. */
  readonly ownAddress: string;
  /** Connects the allocator to the services. Until then none are known. */
  attach(sources: AllocatorSources): void;
}

/** Claims of this request that another writer has obtained in the meantime. */
const conflictingClaims = slot<Set<string>>("lostClaims");

export const defaultRange = "10.0.0.0/24";

export function serviceAllocator({
  ranges: given,
  ports,
  keepsStaticPorts = false,
  random = Math.random,
}: AllocatorOptions): ClusterServiceAllocator {
  const ranges = (given.length > 0 ? given : [defaultRange]).map(addressRange);
  const portCount = ports.to - ports.from + 1;
  const portCandidates: Ports = {
    size: portCount,
    staticCount: keepsStaticPorts ? staticPortBand(portCount) : 0,
    at: (position: number) => String(ports.from + position - 1),
  };
  const nextFit = nextFitFrom(random);
  let claims: ServiceClaims = { taken: () => false };
  let reservations: ClaimReservations = reservationsInMemory(() => 0);
  let refresh: AllocatorSources["refresh"] = async () => undefined;
  let reached: AllocatorSources["reached"] = async () => undefined;

  /**
   * Returns a claim that another service already holds. Earlier holders of the reservation have either
   * written their service or given up, so the answer is certain once the cache has all services up to its
   * revision.
   */
  const findConflict = async (
    secured: Secured,
    wanted: readonly string[],
    owner: string,
  ): Promise<string | undefined> => {
    let lost: string | undefined;
    try {
      await reached(secured.revision);
      lost = wanted.find((claim) => claims.taken(claim, owner));
    } catch (error) {
      secured.settle();
      throw error;
    }
    if (lost !== undefined) secured.settle();
    return lost;
  };

  return {
    families: ranges.map(({ family }) => family) as [AddressRange["family"]],
    ownAddress: ranges[0]!.at(1),
    allocate: (service, old, state, dryRun) => {
      const owner = keyOf(service);
      const isTaken = (claim: string): boolean =>
        claims.taken(claim, owner) ||
        reservations.taken(claim, owner) ||
        state.get(conflictingClaims)?.has(claim) === true;
      const allocation = dryRun ? dryRunAllocation(isTaken) : requestAllocation(isTaken, nextFit);
      // The first failed allocation ends the attempt, as in kube-apiserver.
      const addresses = addressesFor(service.spec, old?.spec, ranges, allocation);
      if (addresses.length > 0) return addresses;
      const nodePorts = nodePortsFor(service.spec, old?.spec, portCandidates, ports, allocation);
      if (nodePorts.length > 0) return nodePorts;
      return healthPortFor(service.spec, old?.spec, portCandidates, ports, allocation);
    },
    secure: async (service, old, state) => {
      const owner = keyOf(service);
      const had = new Set(old ? claimsOf(old.spec) : []);
      // A claim that was lost before and is still requested cannot be changed: validation refuses it.
      const lostBefore = state.get(conflictingClaims);
      const wanted = [...new Set(claimsOf(service.spec))].filter(
        (claim) => !had.has(claim) && !lostBefore?.has(claim),
      );
      if (wanted.length === 0) return "nothing to secure";
      const taken = await reservations.take(wanted, owner);
      const lost = "lost" in taken ? taken.lost : await findConflict(taken, wanted, owner);
      if (lost === undefined) return taken as Secured;
      state.set(conflictingClaims, new Set(state.get(conflictingClaims)).add(lost));
      return "lost";
    },
    refresh: () => refresh(),
    attach: (sources) => {
      const { services, signal, shared } = sources;
      refresh = sources.refresh;
      claims = watchClaims(services, signal);
      reached = sources.reached;
      reservations = shared
        ? reservationsInStore(shared.store, shared.prefix)
        : reservationsInMemory(() => services.source.revision());
    },
  };
}

const keyOf = ({ metadata }: Service): string => `${metadata.namespace}/${metadata.name}`;

/** The allocations of a single request. */
interface RequestAllocation {
  /** In a dry run addresses may be in use and ports may be of any range, as in kube-apiserver. */
  readonly dryRun: boolean;
  /** Returns false if another service holds the claim. */
  take(claim: string): boolean;
  takePort(port: number): boolean;
  /** Returns a free address; undefined if the range is full. */
  anyAddress(range: AddressRange): string | undefined;
  anyPort(ports: Ports): number | undefined;
}

interface Ports extends Candidates {
  /** Size of the lower band, which is used for dynamic allocation only when the rest is full. */
  readonly staticCount: number;
}

interface Candidates {
  readonly size: number;
  /** Returns the candidate at a position from 1 to `size`. */
  at(position: number): string;
}

/**
 * Next-fit search: starts at a random position and continues behind the last allocation. Released values are
 * thus reused as late as possible, so that clients with an outdated address do not reach another service.
 */
interface NextFit {
  next(candidates: Candidates, from: number, count: number): number;
  allocated(candidates: Candidates, position: number): void;
}

function nextFitFrom(random: () => number): NextFit {
  const given = new WeakMap<Candidates, number>();
  return {
    next: (candidates, from, count) => {
      const last = given.get(candidates) ?? 0;
      return last < from || last >= from + count ? from + Math.floor(random() * count) : last + 1;
    },
    allocated: (candidates, position) => void given.set(candidates, position),
  };
}

type Take = RequestAllocation["take"];

function takeOnce(isTaken: Take): Take {
  const taken = new Set<string>();
  return (claim) => {
    if (taken.has(claim) || isTaken(claim)) return false;
    taken.add(claim);
    return true;
  };
}

/** Ports shown by a dry run start after this one, whatever the configured port range is. */
const lastPortOfDryRuns = 32_768;

/** Returns a share that allocates nothing: a dry run leaves the allocator unchanged, as in kube-apiserver. */
function dryRunAllocation(isTaken: Take): RequestAllocation {
  const take = takeOnce(isTaken);
  let last: number | undefined;
  const advance = (port: number): number => (last = Math.max(last ?? 0, port));
  return {
    dryRun: true,
    take,
    takePort: (port) => take(portClaim(port)) && advance(port) > 0,
    anyAddress: (range) => range.at(0),
    anyPort: () => advance((last ?? lastPortOfDryRuns) + 1),
  };
}

function requestAllocation(isTaken: Take, nextFit: NextFit): RequestAllocation {
  const take = takeOnce(isTaken);
  const scan = (
    candidates: Candidates,
    from: number,
    count: number,
    claim: (text: string) => string,
  ): string | undefined => {
    const start = nextFit.next(candidates, from, count) - from;
    for (let step = 0; step < count; step++) {
      const position = from + ((start + step) % count);
      const text = candidates.at(position);
      if (!take(claim(text))) continue;
      nextFit.allocated(candidates, position);
      return text;
    }
    return undefined;
  };
  /** Prefers candidates behind the first `keep`. */
  const anyCandidate = (
    candidates: Candidates,
    skipped: number,
    claim: (text: string) => string,
  ): string | undefined =>
    scan(candidates, skipped + 1, candidates.size - skipped, claim) ?? scan(candidates, 1, skipped, claim);
  return {
    dryRun: false,
    take,
    takePort: (port) => take(portClaim(port)),
    anyAddress: (range) => anyCandidate(range, staticAddressBand(range.size), (text) => text),
    anyPort: (ports) => {
      const port = anyCandidate(ports, ports.staticCount, portClaim);
      return port === undefined ? undefined : Number(port);
    },
  };
}

/**
 * Size of the lower address band, reserved for static assignment: a sixteenth of the range, within bounds.
 */
const staticAddressBand = (size: number): number =>
  size < 32 ? 0 : Math.min(Math.max(16, Math.floor(size / 16)), 256);

function addressesFor(
  spec: ServiceSpec,
  old: ServiceSpec | undefined,
  ranges: readonly AddressRange[],
  allocation: RequestAllocation,
): FieldError[] {
  if (spec.type === "ExternalName" || isHeadless(spec)) return [];
  const had = old && old.type !== "ExternalName" ? old : undefined;
  if (had && isHeadless(had)) return [];
  const families = spec.ipFamilies ?? [];
  const requested = spec.clusterIPs ?? [];
  const addresses: string[] = [];
  for (const [position, family] of families.entries()) {
    const range = ranges.find((each) => each.family === family)!;
    const wanted = requested[position];
    const refused = (why: string): FieldError[] => [
      invalidValue(
        "spec.clusterIPs",
        families.map((_, at) => requested[at] ?? ""),
        `failed to allocate IP ${wanted}: ${why}`,
      ),
    ];
    // Address changes are validated elsewhere. A service keeps its addresses even if they are outside of a
    // range that has changed.
    const kept = wanted !== undefined && position < (had?.ipFamilies?.length ?? 0);
    if (wanted !== undefined && !kept && !range.contains(wanted))
      return refused(
        `the provided IP (${wanted}) is not in the valid range. The range of valid IPs is ${range.text}`,
      );
    if (wanted !== undefined && !kept && !allocation.take(canonicalAddress(wanted)) && !allocation.dryRun)
      return refused("provided IP is already allocated");
    const address = wanted ?? allocation.anyAddress(range);
    if (address === undefined) throw internal("failed to allocate a serviceIP: range is full");
    addresses.push(address);
  }
  if (addresses.length === 0) return [];
  spec.clusterIPs = addresses;
  spec.clusterIP = addresses[0]!;
  return [];
}

/**
 * Size of the lower port band, reserved for static assignment: a thirty-second of the range, within bounds.
 */
const staticPortBand = (size: number): number =>
  size <= 16 ? 0 : Math.min(Math.max(16, Math.floor(size / 32)), 128);

const anyPort = (texts: Ports, allocation: RequestAllocation): number => {
  const port = allocation.anyPort(texts);
  if (port === undefined) throw internal("failed to allocate a nodePort: range is full");
  return port;
};

/** Takes a requested port; returns errors if it is invalid or already allocated. */
function portErrors(
  port: number,
  { from, to }: PortRange,
  allocation: RequestAllocation,
  field: string,
): FieldError[] {
  if (!allocation.dryRun && (port < from || port > to))
    return [
      invalidValue(
        field,
        port,
        `provided port is not in the valid range. The range of valid ports is ${from}-${to}`,
      ),
    ];
  return allocation.takePort(port) ? [] : [invalidValue(field, port, "provided port is already allocated")];
}

/** In a new service, ports with the same number and different protocols share a node port. */
function nodePortsFor(
  spec: ServiceSpec,
  old: ServiceSpec | undefined,
  texts: Ports,
  range: PortRange,
  allocation: RequestAllocation,
): FieldError[] {
  if (spec.type !== "NodePort" && spec.type !== "LoadBalancer") return [];
  const given = spec.type === "NodePort" || spec.allocateLoadBalancerNodePorts !== false;
  const before = new Set((old?.ports ?? []).flatMap(({ nodePort }) => nodePort || []));
  const byPort = new Map<number, number>();
  const had = new Set<number>();
  for (const [position, port] of (spec.ports ?? []).entries()) {
    if (!port.nodePort && !given) continue;
    const shared = old
      ? undefined
      : (byPort.get(port.port) ??
        (spec.ports ?? []).find((each) => each.port === port.port && each.nodePort)?.nodePort);
    const wanted = port.nodePort || shared;
    // In a new service a node port is taken once per service port, in an update once per node port.
    const known = old ? had.has(wanted ?? 0) : byPort.get(port.port) === wanted;
    if (wanted && !known) {
      const errors = before.has(wanted)
        ? []
        : portErrors(wanted, range, allocation, `spec.ports[${position}].nodePort`);
      if (errors.length > 0) return errors;
      allocation.take(portClaim(wanted));
    }
    port.nodePort = wanted ?? anyPort(texts, allocation);
    byPort.set(port.port, byPort.get(port.port) ?? port.nodePort);
    had.add(port.nodePort);
  }
  return [];
}

function healthPortFor(
  spec: ServiceSpec,
  old: ServiceSpec | undefined,
  texts: Ports,
  range: PortRange,
  allocation: RequestAllocation,
): FieldError[] {
  if (!needsHealthCheck(spec) || (old && needsHealthCheck(old))) return [];
  if (spec.healthCheckNodePort)
    return portErrors(spec.healthCheckNodePort, range, allocation, "spec.healthCheckNodePort");
  spec.healthCheckNodePort = anyPort(texts, allocation);
  return [];
}
