// Resolves a service to the destination of its connections: its cluster IP, its external name, or one of its
// endpoints.
import type { Endpoints, Service } from "#api";
import type { Dial } from "#http";

export interface ServiceAddress {
  readonly host: string;
  readonly port: number;
  /** How to connect, unless directly. */
  readonly dial?: Dial | undefined;
}

export type ResolveService = (namespace: string, name: string, port: number) => Promise<ServiceAddress>;

export interface ServiceSources {
  service(key: string): Promise<Service | undefined>;
  endpoints(key: string): Promise<Endpoints | undefined>;
  /** Connect to endpoints instead of the cluster IP. */
  readonly toEndpoints: boolean;
  /** A service with a cluster IP counts as resolvable only if it has endpoints. */
  readonly needsEndpoints?: boolean;
  readonly dial?: Dial | undefined;
}

/** The reason why a service cannot be resolved. */
export class UnresolvedService extends Error {
  override readonly name = "UnresolvedService";
  readonly reason: string;
  constructor(reason: string, message: string) {
    super(message);
    this.reason = reason;
  }
}

export function serviceResolver(sources: ServiceSources): ResolveService {
  const addressOf = addressResolver(sources);
  const { dial } = sources;
  return async (...service) => ({ ...(await addressOf(...service)), ...(dial && { dial }) });
}

function addressResolver(sources: ServiceSources): ResolveService {
  return async (namespace, name, port) => {
    const key = `${namespace}/${name}`;
    const service = await sources.service(key);
    if (!service)
      throw new UnresolvedService("ServiceNotFound", `service/${name} in "${namespace}" is not present`);
    const { type, clusterIP, externalName, ports } = service.spec;
    if (type === "ExternalName") return { host: externalName ?? "", port };
    const found = ports?.find((each) => each.port === port);
    if (!found)
      throw new UnresolvedService(
        "ServicePortError",
        `service/${name} in "${namespace}" is not listening on port ${port}`,
      );
    if (sources.needsEndpoints && !sources.toEndpoints && (type ?? "ClusterIP") === "ClusterIP")
      await anEndpoint(sources, namespace, name, found.name ?? "");
    if (sources.toEndpoints) return await anEndpoint(sources, namespace, name, found.name ?? "");
    if (!clusterIP || clusterIP === "None")
      throw new UnresolvedService("ServiceAccessError", `service/${name} in "${namespace}" has no address`);
    return { host: clusterIP, port };
  };
}

async function anEndpoint(
  sources: ServiceSources,
  namespace: string,
  name: string,
  portName: string,
): Promise<ServiceAddress> {
  const endpoints = await sources.endpoints(`${namespace}/${name}`);
  if (!endpoints)
    throw new UnresolvedService(
      "EndpointsNotFound",
      `cannot find endpoints for service/${name} in "${namespace}"`,
    );
  const found = (endpoints.subsets ?? []).flatMap(({ addresses, ports }) => {
    const port = ports?.find((each) => (each.name ?? "") === portName);
    return port ? (addresses ?? []).map(({ ip }) => ({ host: ip, port: port.port })) : [];
  });
  const chosen = found[Math.floor(Math.random() * found.length)];
  if (!chosen)
    throw new UnresolvedService(
      "MissingEndpoints",
      `endpoints for service/${name} in "${namespace}" have no addresses with port name "${portName}"`,
    );
  return chosen;
}
