// Environment variables that announce the services of a pod's namespace.
import type { Service } from "#api";
import { hostAndPort } from "#base";

/** Returns the variables of these services, in order. Services without a cluster IP have none. */
export function servicesEnvironment(services: readonly Service[]): [name: string, value: string][] {
  const found: [string, string][] = [];
  for (const service of services) {
    const ip = service.spec.clusterIP;
    if (!ip || ip === "None") continue;
    const name = variableName(service.metadata.name ?? "");
    const ports = service.spec.ports ?? [];
    const [first] = ports;
    if (!first) continue;
    found.push([`${name}_SERVICE_HOST`, ip], [`${name}_SERVICE_PORT`, String(first.port)]);
    for (const port of ports)
      if (port.name) found.push([`${name}_SERVICE_PORT_${variableName(port.name)}`, String(port.port)]);
    for (const [index, port] of ports.entries()) {
      const protocol = port.protocol || "TCP";
      const url = `${protocol.toLowerCase()}://${hostAndPort(ip, port.port)}`;
      if (index === 0) found.push([`${name}_PORT`, url]);
      const start = `${name}_PORT_${port.port}_${protocol.toUpperCase()}`;
      found.push(
        [start, url],
        [`${start}_PROTO`, protocol.toLowerCase()],
        [`${start}_PORT`, String(port.port)],
        [`${start}_ADDR`, ip],
      );
    }
  }
  return found;
}

/**
 * Returns the services announced to a pod: those of its namespace unless service links are disabled, and
 * always the API server's.
 */
export function servicesFor(
  namespace: string,
  links: boolean,
  services: Iterable<Service>,
  apiService: string,
): Service[] {
  const chosen = new Map<string, Service>();
  for (const service of services) {
    const name = service.metadata.name ?? "";
    if (service.metadata.namespace === "default" && name === apiService) {
      if (!chosen.has(name)) chosen.set(name, service);
    } else if (links && service.metadata.namespace === namespace) chosen.set(name, service);
  }
  return [...chosen.values()].toSorted((a, b) =>
    (a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1,
  );
}

const variableName = (name: string): string => name.toUpperCase().replaceAll("-", "_");
