// Derives from a Service and its EndpointSlices what each service port needs of the packet filter: pure
// functions that decide like kube-proxy (pkg/proxy/topology.go).
import { createHash } from "node:crypto";
import { isIP } from "node:net";
import type { EndpointSlice } from "#api";
import type { kinds } from "#client";
import type { Seen } from "#controllerkit";
import { formatIp, parseIp } from "#base";
import { parseCidr } from "#options";

export type SeenService = Seen<typeof kinds.services.schema>;
export type SeenSlice = Seen<typeof kinds.endpointSlices.schema>;
export type Family = 4 | 6;

export interface Backend {
  readonly address: string;
  readonly port: number;
  /** Whether the endpoint is on this node. */
  readonly local: boolean;
}

/** One port of a service in one IP family. */
export interface ServicePort {
  /** `namespace/name:port`, for display. */
  readonly title: string;
  /** Short stable identifier of the port. */
  readonly hash: string;
  readonly family: Family;
  readonly protocol: "tcp" | "udp" | "sctp";
  readonly port: number;
  readonly clusterAddress: string | undefined;
  readonly externalAddresses: readonly string[];
  readonly balancerAddresses: readonly string[];
  /** Source ranges allowed through the load balancer; undefined if unrestricted. */
  readonly sourceRanges: readonly string[] | undefined;
  /** 0 without a node port. */
  readonly nodePort: number;
  /** Session affinity timeout in seconds; 0 disables affinity. */
  readonly affinitySeconds: number;
  /** Whether internal, or external, traffic is restricted to backends of this node. */
  readonly internalLocal: boolean;
  readonly externalLocal: boolean;
  readonly backends: readonly Backend[];
  readonly localBackends: readonly Backend[];
  /** Addresses of the ready endpoints of this node, which health checks count. */
  readonly readyLocalAddresses: readonly string[];
}

/** The node this proxy runs on. */
export interface NodeIdentity {
  readonly name: string;
  readonly zone: string | undefined;
}

export interface EndpointRules {
  /** Annotations that enable topology hints, by precedence; empty if hints are ignored. */
  readonly hintAnnotations: readonly string[];
  /** Whether terminating endpoints that still serve are used if no others are available. */
  readonly usesTerminating: boolean;
}

interface Candidate extends Backend {
  readonly ready: boolean;
  readonly serving: boolean;
  readonly terminating: boolean;
  readonly zones: readonly string[] | undefined;
}

const defaultAffinitySeconds = 10_800;
const isNone = (address: string | undefined): boolean => !address || address === "None";

export function servicePorts(
  service: SeenService,
  slices: readonly SeenSlice[],
  node: NodeIdentity,
  { hintAnnotations, usesTerminating }: EndpointRules,
): ServicePort[] {
  const { spec, status, metadata } = service;
  if (spec.type === "ExternalName" || isNone(spec.clusterIP)) return [];
  const addresses = spec.clusterIPs?.length ? spec.clusterIPs : [spec.clusterIP!];
  const families = [...new Set(addresses.map(familyOf))];
  const mode = hintAnnotations
    .map((name) => metadata.annotations?.[name])
    .find((value) => value !== undefined);
  const usesHints =
    spec.trafficDistribution !== undefined || !["", "disabled", "Disabled"].includes(mode ?? "");
  const balancers = (status?.loadBalancer?.ingress ?? []).flatMap(({ ip, ipMode }) =>
    ipMode === "Proxy" ? [] : ip || [],
  );
  const hasNodePorts = spec.type === "NodePort" || spec.type === "LoadBalancer";
  const ranges = spec.loadBalancerSourceRanges ?? [];
  return families.flatMap((family) => {
    const of = (list: readonly string[]): string[] =>
      list.flatMap(canonical).filter((each) => familyOf(each) === family);
    return (spec.ports ?? []).map((each): ServicePort => {
      const protocol = (each.protocol ?? "TCP").toLowerCase() as ServicePort["protocol"];
      const candidates = candidatesFor(slices, family, each, node.name);
      const localCandidates = candidates.filter(({ local }) => local);
      const title = `${metadata.namespace}/${metadata.name}${each.name ? `:${each.name}` : ""}`;
      return {
        title,
        hash: hashOf(`${title} ${protocol}`),
        family,
        protocol,
        port: each.port,
        clusterAddress: of(addresses)[0],
        externalAddresses: of(spec.externalIPs ?? []),
        balancerAddresses: spec.type === "LoadBalancer" ? of(balancers) : [],
        sourceRanges: ranges.length > 0 ? rangesOf(ranges, family) : undefined,
        nodePort: hasNodePorts ? (each.nodePort ?? 0) : 0,
        affinitySeconds:
          spec.sessionAffinity === "ClientIP"
            ? (spec.sessionAffinityConfig?.clientIP?.timeoutSeconds ?? defaultAffinitySeconds)
            : 0,
        internalLocal: spec.internalTrafficPolicy === "Local",
        externalLocal: spec.externalTrafficPolicy === "Local",
        backends: selectBackends(
          usesHints ? filterByHints(candidates, node.zone) : candidates,
          usesTerminating,
        ),
        localBackends: selectBackends(localCandidates, usesTerminating),
        readyLocalAddresses: localCandidates.filter(({ ready }) => ready).map(({ address }) => address),
      };
    });
  });
}

const familyOf = (address: string): Family => (isIP(address) === 6 ? 6 : 4);

/** Returns the canonical form of an address as packet filters expect it, or nothing if it is invalid. */
function canonical(address: string): string[] {
  const bytes = parseIp(address);
  return bytes ? [formatIp(bytes)] : [];
}

const rangesOf = (ranges: readonly string[], family: Family): string[] =>
  ranges.flatMap((each) => {
    try {
      const range = parseCidr(each.trim());
      return range.family === family ? [`${networkOf(range.address, range.bits)}/${range.bits}`] : [];
    } catch {
      return [];
    }
  });

/** Returns the network address of a CIDR. */
function networkOf(address: string, bits: number): string {
  const bytes = parseIp(address)!;
  return formatIp(bytes.map((byte, at) => byte & (0xff00 >> Math.min(8, Math.max(0, bits - 8 * at)))));
}

export const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 16);

/** Returns the ready endpoints, or else those that still serve while terminating. */
function selectBackends(candidates: readonly Candidate[], usesTerminating: boolean): Backend[] {
  const ready = candidates.filter((each) => each.ready);
  const servingTerminating = (): Candidate[] =>
    usesTerminating ? candidates.filter(({ serving, terminating }) => serving && terminating) : [];
  const selected = ready.length > 0 ? ready : servingTerminating();
  const byAddress = new Map(selected.map((each) => [`${each.address} ${each.port}`, each]));
  return [...byAddress]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { address, port, local }]) => ({ address, port, local }));
}

/** Returns the endpoints hinted for this node's zone, or all if hints are incomplete. */
function filterByHints(candidates: readonly Candidate[], zone: string | undefined): readonly Candidate[] {
  if (!zone) return candidates;
  const ready = candidates.filter((each) => each.ready);
  if (ready.length === 0 || ready.some(({ zones }) => !zones?.length)) return candidates;
  const here = ready.filter(({ zones }) => zones!.includes(zone));
  return here.length > 0 ? here : candidates;
}

function candidatesFor(
  slices: readonly EndpointSlice[],
  family: Family,
  port: { readonly name?: string | undefined; readonly protocol?: string | undefined },
  nodeName: string,
): Candidate[] {
  return slices
    .filter(({ addressType }) => addressType === (family === 6 ? "IPv6" : "IPv4"))
    .flatMap((slice) => {
      const target = (slice.ports ?? []).find(
        (each) =>
          (each.name ?? "") === (port.name ?? "") && (each.protocol ?? "TCP") === (port.protocol ?? "TCP"),
      );
      if (!target?.port) return [];
      return (slice.endpoints ?? []).flatMap((endpoint): Candidate[] => {
        const [address] = canonical(endpoint.addresses?.[0] ?? "");
        if (address === undefined || familyOf(address) !== family) return [];
        const ready = endpoint.conditions?.ready ?? true;
        return [
          {
            address,
            port: target.port!,
            local: endpoint.nodeName === nodeName,
            ready,
            serving: endpoint.conditions?.serving ?? true,
            terminating: endpoint.conditions?.terminating ?? false,
            zones: endpoint.hints?.forZones?.map(({ name }) => name),
          },
        ];
      });
    });
}
