// EndpointSlices that mirror the Endpoints of services without a selector.
import type { Endpoint, Endpoints } from "#api";
import { exponentialBuckets } from "#base";
import { type AnyObject, kinds } from "#client";
import { type Controller, type ControllerContext, queueFor, recorderFor } from "#controllerkit";
import { keyOf, splitKey } from "../pods.ts";
import { addressPortsOf, repack } from "./repack.ts";
import { hasSelector } from "./service-pods.ts";
import { sliceMetrics } from "./slice-metrics.ts";
import { removeSlices, writeSlices } from "./slice-writer.ts";
import { type Desired, planSlices } from "./slices.ts";

/**
 * Returns the endpoints of an object's subsets by address family and ports, and how many addresses exceed the
 * limit.
 */
export function mirrored(
  { subsets }: Endpoints,
  maxPerSubset = 1000,
): { desired: Desired[]; skipped: number } {
  const groups = new Map<string, Desired & { endpoints: Endpoint[] }>();
  let skipped = 0;
  for (const { addresses = [], notReadyAddresses = [], ports: given = [] } of repack(
    addressPortsOf(subsets ?? []),
  )) {
    const ports = given.map(({ name, port, protocol, appProtocol }) => ({
      name: name ?? "",
      port,
      protocol: protocol ?? "TCP",
      ...(appProtocol && { appProtocol }),
    }));
    const all = [
      ...addresses.map((address) => ({ address, ready: true })),
      ...notReadyAddresses.map((address) => ({ address, ready: false })),
    ];
    skipped += Math.max(0, all.length - maxPerSubset);
    for (const { address, ready } of all.slice(0, maxPerSubset)) {
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
  return { desired: [...groups.values()], skipped };
}

/** Mirrors at most `maxPerSubset` addresses of each subset into one slice. */
export function endpointSliceMirroringController(
  context: ControllerContext,
  maxPerSubset = 1000,
): Controller {
  const { client, clock, view, dialect } = context;
  const { labels: labelNames, annotations: annotationNames, managers } = dialect.names;
  const events = recorderFor(context, "endpoint-slice-mirroring-controller");
  const prefix = "endpoint_slice_mirroring_controller";
  const metrics = sliceMetrics(context.metrics, { prefix, maxPerSlice: maxPerSubset, countsUpdates: true });
  const skippedAddresses = context.metrics
    .histogram({
      name: `${prefix}_addresses_skipped_per_sync`,
      help: "Number of addresses per sync that exceed the limit of a subset.",
      buckets: exponentialBuckets(2, 2, 15),
      stability: "ALPHA",
    })
    .with();
  const duration = context.metrics
    .histogram({
      name: `${prefix}_endpoints_sync_duration`,
      help: "Time in seconds that a sync takes.",
      buckets: exponentialBuckets(0.001, 2, 15),
      stability: "ALPHA",
    })
    .with();
  const queue = queueFor(context, "endpoint_slice_mirroring", async (key) => {
    const startedAt = clock.now();
    try {
      await sync(key);
    } finally {
      duration.observe((clock.now() - startedAt) / 1000);
    }
  });
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
      metrics.forget(key);
      return await removeSlices(client, existing, metrics.written);
    }
    const annotations = { ...source.metadata.annotations };
    delete annotations[annotationNames.lastApplied];
    delete annotations[annotationNames.endpointsTriggerTime];
    const owner = {
      owner: source,
      annotate: () => annotations,
      followsAnnotations: true,
      onWrite: metrics.written,
      labels: {
        ...source.metadata.labels,
        [labelNames.serviceName]: name,
        [labelNames.endpointSliceManagedBy]: managers.endpointSliceMirroring,
      },
    };
    const { desired, skipped } = mirrored(source, maxPerSubset);
    skippedAddresses.observe(skipped);
    if (skipped > 0) {
      const text = `A max of ${maxPerSubset} addresses can be mirrored to EndpointSlices per Endpoints subset. ${skipped} addresses were skipped`;
      events.event(source, "Warning", "TooManyAddressesToMirror", text);
    }
    const plan = planSlices(desired, existing, maxPerSubset);
    metrics.planned(key, desired, plan, existing);
    await writeSlices(client, owner, plan, existing);
  }
}
