// EndpointSlices of services with a selector.
import type { Endpoint } from "#api";
import { kinds } from "#client";
import { type Controller, type ControllerContext, queueFor } from "#controllerkit";
import { type SeenPod, isDeleting, isReady, keyOf, splitKey } from "../pods.ts";
import { triggerTime } from "./endpoints.ts";
import {
  type ResolvedPort,
  type SeenService,
  addressOf,
  followServices,
  hasSelector,
  hostnameOf,
  isCandidate,
  isHeadless,
  portsOn,
  targetOf,
} from "./service-pods.ts";
import { writeSlices } from "./slice-writer.ts";
import { type Desired, planSlices } from "./slices.ts";

const mostPerSlice = 100;

export function endpointSliceController(context: ControllerContext): Controller {
  const { client, view, dialect } = context;
  const { labels: labelNames, managers, annotations: annotationNames } = dialect.names;
  const queue = queueFor(context, "endpoint_slice", sync);
  const { services, podsOf } = followServices(context, () => queue);
  const nodes = view.follow(kinds.nodes, (event) => {
    if (event.type !== "updated" || zoneOf(event.old) !== zoneOf(event.object))
      for (const service of services.items()) queue.add(keyOf(service));
  });
  const slices = view.follow(kinds.endpointSlices, ({ object }) => {
    const name = object.metadata.labels?.[labelNames.serviceName];
    if (isOurs(object) && name) queue.add(`${object.metadata.namespace}/${name}`);
  });
  const byService = slices.index("service", ({ metadata }) => [
    `${metadata.namespace}/${metadata.labels?.[labelNames.serviceName] ?? ""}`,
  ]);
  return { stopped: queue.stopped };

  function isOurs({ metadata }: { metadata: { labels?: Record<string, string> | undefined } }): boolean {
    return metadata.labels?.[labelNames.endpointSliceManagedBy] === managers.endpointSlices;
  }
  function zoneOf({
    metadata,
  }: {
    metadata: { labels?: Record<string, string> | undefined };
  }): string | undefined {
    return metadata.labels?.[labelNames.zone];
  }

  async function sync(key: string): Promise<void> {
    const [namespace, name] = splitKey(key);
    const service = services.get(namespace, name);
    if (!service || !hasSelector(service)) return;
    const existing = byService(key).filter((slice) => isOurs(slice) && !slice.metadata.deletionTimestamp);
    const pods = podsOf(service);
    const families = service.spec.ipFamilies?.length ? service.spec.ipFamilies : ["IPv4"];
    const desired = families.flatMap((family) => desiredFor(service, pods, family));
    const labels = { ...service.metadata.labels };
    delete labels[labelNames.headlessService];
    const owner = {
      owner: service,
      labels: {
        ...labels,
        ...(isHeadless(service) && { [labelNames.headlessService]: "" }),
        [labelNames.serviceName]: name,
        [labelNames.endpointSliceManagedBy]: managers.endpointSlices,
      },
      annotations: { [annotationNames.endpointsTriggerTime]: triggerTime(service, pods) },
    };
    await writeSlices(client, owner, planSlices(desired, existing, mostPerSlice), existing);
  }

  function desiredFor(service: SeenService, pods: readonly SeenPod[], family: string): Desired[] {
    const groups = new Map<string, { ports: readonly ResolvedPort[]; endpoints: Endpoint[] }>();
    for (const pod of pods) {
      const address = addressOf(pod, family);
      if (!address || !isCandidate(pod, true)) continue;
      const ports = portsOn(pod, service);
      const group = groups.get(JSON.stringify(ports)) ?? { ports, endpoints: [] };
      groups.set(JSON.stringify(ports), group);
      group.endpoints.push(endpointOf(service, pod, address));
    }
    if (groups.size === 0) return [{ addressType: family, ports: [], endpoints: [] }];
    return [...groups.values()].map((group) => ({ addressType: family, ...group }));
  }

  function endpointOf(service: SeenService, pod: SeenPod, address: string): Endpoint {
    const serving = isReady(pod);
    const terminating = isDeleting(pod);
    const hostname = hostnameOf(pod, service);
    const node = pod.spec.nodeName ? nodes.get(undefined, pod.spec.nodeName) : undefined;
    const zone = node && zoneOf(node);
    return {
      addresses: [address],
      conditions: {
        ready: Boolean(service.spec.publishNotReadyAddresses) || (serving && !terminating),
        serving,
        terminating,
      },
      ...(hostname && { hostname }),
      targetRef: targetOf(pod),
      ...(pod.spec.nodeName && { nodeName: pod.spec.nodeName }),
      ...(zone && { zone }),
    };
  }
}
