// EndpointSlices that mirror Endpoints of services without a selector.
import type { Endpoint, Endpoints } from "#api";
import { type AnyObject, kinds } from "#client";
import { type Controller, type ControllerContext, ignoreReasons, queueFor } from "#controllerkit";
import { keyOf, splitKey } from "../pods.ts";
import { hasSelector } from "./service-pods.ts";
import { writeSlices } from "./slice-writer.ts";
import { type Desired, planSlices } from "./slices.ts";

const mostPerSlice = 100;
/** Of each subset at most so many addresses are mirrored. */
const mostPerSubset = 1000;

/** The endpoints of the object's subsets, by address family and ports. */
export function mirrored({ subsets }: Endpoints): Desired[] {
  const groups = new Map<string, Desired & { endpoints: Endpoint[] }>();
  for (const subset of subsets ?? []) {
    const ports = (subset.ports ?? []).map(({ name, port, protocol, appProtocol }) => ({
      name: name ?? "",
      port,
      protocol: protocol ?? "TCP",
      ...(appProtocol && { appProtocol }),
    }));
    const all = [
      ...(subset.addresses ?? []).map((address) => ({ address, ready: true })),
      ...(subset.notReadyAddresses ?? []).map((address) => ({ address, ready: false })),
    ].slice(0, mostPerSubset);
    for (const { address, ready } of all) {
      const addressType = address.ip.includes(":") ? "IPv6" : "IPv4";
      const key = JSON.stringify([addressType, ports]);
      const group = groups.get(key) ?? { addressType, ports, endpoints: [] };
      groups.set(key, group);
      group.endpoints.push({
        addresses: [address.ip],
        conditions: { ready },
        ...(address.hostname && { hostname: address.hostname }),
        ...(address.nodeName && { nodeName: address.nodeName }),
        ...(address.targetRef && { targetRef: address.targetRef }),
      });
    }
  }
  return [...groups.values()];
}

export function endpointSliceMirroringController(context: ControllerContext): Controller {
  const { client, view, dialect } = context;
  const { labels: labelNames, annotations: annotationNames, managers } = dialect.names;
  const queue = queueFor(context, "endpoint_slice_mirroring", sync);
  const services = view.follow(kinds.services, ({ object }) => queue.add(keyOf(object)));
  const endpoints = view.follow(kinds.endpoints, ({ object }) => queue.add(keyOf(object)));
  const isOurs = ({ metadata }: AnyObject): boolean =>
    metadata.labels?.[labelNames.endpointSliceManagedBy] === managers.endpointSliceMirroring;
  const slices = view.follow(kinds.endpointSlices, ({ object }) => {
    const name = object.metadata.labels?.[labelNames.serviceName];
    if (isOurs(object) && name) queue.add(`${object.metadata.namespace}/${name}`);
  });
  const byService = slices.index("service", ({ metadata }) => [
    `${metadata.namespace}/${metadata.labels?.[labelNames.serviceName] ?? ""}`,
  ]);
  return { stopped: queue.stopped };

  async function sync(key: string): Promise<void> {
    const [namespace, name] = splitKey(key);
    const source = endpoints.get(namespace, name);
    const service = services.get(namespace, name);
    const existing = byService(key).filter(isOurs);
    const isMirrored =
      source &&
      service &&
      !hasSelector(service) &&
      source.metadata.labels?.[labelNames.skipEndpointMirror] !== "true" &&
      !source.metadata.annotations?.[annotationNames.leader];
    if (!isMirrored) {
      for (const { metadata } of existing)
        await ignoreReasons(
          ["NotFound"],
          client.of(kinds.endpointSlices).delete(metadata.name!, { namespace }),
        );
      return;
    }
    const annotations = { ...source.metadata.annotations };
    delete annotations[annotationNames.lastApplied];
    delete annotations[annotationNames.endpointsTriggerTime];
    const owner = {
      owner: source,
      annotations,
      labels: {
        ...source.metadata.labels,
        [labelNames.serviceName]: name,
        [labelNames.endpointSliceManagedBy]: managers.endpointSliceMirroring,
      },
    };
    await writeSlices(client, owner, planSlices(mirrored(source), existing, mostPerSlice), existing);
  }
}
