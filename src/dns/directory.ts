// The service directory of the DNS server, from Services and EndpointSlices.
import type { EndpointSlice } from "#api";
import { kinds } from "#client";
import type { ClusterView, Seen } from "#controllerkit";
import type { Dialect } from "#dialect";
import {
  type NamedEndpoint,
  type NamedPort,
  type NamedService,
  type ServiceDirectory,
  addressKey,
} from "./cluster-records.ts";

type SeenService = Seen<typeof kinds.services.schema>;
type SeenSlice = Seen<typeof kinds.endpointSlices.schema>;

/** Returns a directory that is complete once the view has synced. */
export function serviceDirectory(view: ClusterView, dialect: Dialect): ServiceDirectory {
  const { serviceName } = dialect.names.labels;
  const keyOf = (namespace: string | undefined, name: string): string => `${namespace ?? ""}/${name}`;
  const ownerOf = ({ metadata }: SeenSlice): string =>
    keyOf(metadata.namespace, metadata.labels?.[serviceName] ?? "");
  const services = view.follow(kinds.services);
  const slices = view.follow(kinds.endpointSlices);
  const slicesOf = slices.index("service", (slice) => [ownerOf(slice)]);
  const byClusterAddress = services.index("cluster address", (service) =>
    clusterAddresses(service).map(addressKey),
  );
  const byEndpointAddress = slices.index("endpoint address", (slice) =>
    (slice.endpoints ?? []).flatMap(({ addresses }) => (addresses ?? []).map(addressKey)),
  );
  return {
    hasNamespace: (namespace) => services.inNamespace(namespace).length > 0,
    service: (namespace, name) => {
      const service = services.get(namespace, name);
      return service && namedService(service, slicesOf(keyOf(namespace, name)));
    },
    namesOf: (address) => {
      const key = addressKey(address);
      const serviceNames = byClusterAddress(key).map(
        ({ metadata }) => `${metadata.name}.${metadata.namespace}`,
      );
      if (serviceNames.length > 0) return serviceNames;
      const endpointNames = byEndpointAddress(key).flatMap((slice) => {
        const name = slice.metadata.labels?.[serviceName] ?? "";
        const service = services.get(slice.metadata.namespace, name);
        if (!service || !isHeadless(service)) return [];
        return endpointsOf(slice)
          .filter((endpoint) => addressKey(endpoint.address) === key)
          .map(({ hostname }) => `${hostname}.${name}.${slice.metadata.namespace}`);
      });
      return [...new Set(endpointNames)];
    },
  };
}

export function namedService({ spec }: SeenService, slices: readonly EndpointSlice[]): NamedService {
  if (spec.type === "ExternalName")
    return { is: "alias", target: (spec.externalName ?? "").replace(/\.$/, "").toLowerCase() };
  if (spec.clusterIP === "None") return { is: "headless", endpoints: slices.flatMap(endpointsOf) };
  return {
    is: "address",
    addresses: clusterAddresses({ spec }),
    ports: (spec.ports ?? []).map(({ name, protocol, port }) => named(name, protocol, port)),
  };
}

const isHeadless = ({ spec }: SeenService): boolean =>
  spec.clusterIP === "None" && spec.type !== "ExternalName";

const clusterAddresses = ({ spec }: Pick<SeenService, "spec">): string[] =>
  spec.type === "ExternalName"
    ? []
    : (spec.clusterIPs ?? [spec.clusterIP ?? ""]).filter((each) => each !== "" && each !== "None");

const named = (
  name: string | undefined,
  protocol: string | undefined,
  port: number | undefined,
): NamedPort => ({
  name: name ?? "",
  protocol: (protocol ?? "TCP").toLowerCase(),
  port: port ?? 0,
});

/** Returns the endpoints that are ready; an unset condition counts as ready. */
function endpointsOf({ addressType, endpoints, ports }: EndpointSlice): NamedEndpoint[] {
  if (addressType === "FQDN") return [];
  const all = (ports ?? []).map(({ name, protocol, port }) => named(name, protocol, port));
  return (endpoints ?? [])
    .filter(({ conditions }) => conditions?.ready !== false)
    .flatMap(({ addresses, hostname }) =>
      (addresses ?? []).map((address) => ({
        address,
        hostname: hostname || address.replaceAll(/[.:]/g, "-"),
        ports: all,
      })),
    );
}
