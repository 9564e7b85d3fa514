// Resolves services to addresses: the cluster IP, or the external name.

import type { Service } from "#api";

/** Returns the address behind a service's port; throws if the service cannot be reached. */
export async function resolveService(
  find: (key: string) => Promise<Service | undefined>,
  namespace: string,
  name: string,
  port: number,
): Promise<{ readonly host: string; readonly port: number }> {
  const service = await find(`${namespace}/${name}`);
  if (!service) throw new Error(`service ${JSON.stringify(name)} not found`);
  const { type, clusterIP, externalName, ports } = service.spec ?? {};
  if (type === "ExternalName") return { host: externalName ?? "", port };
  if (!ports?.some((each) => each.port === port))
    throw new Error(`no service port ${port} found for service ${JSON.stringify(name)}`);
  if (!clusterIP || clusterIP === "None") throw new Error(`cannot route to service with ClusterIP "None"`);
  return { host: clusterIP, port };
}
