// Endpoints: the addresses of each service's pods, in an object named like the service.
import { isDeepStrictEqual } from "node:util";
import type { EndpointSubset, Endpoints } from "#api";
import { type AnyObject, kinds } from "#client";
import {
  type Controller,
  type ControllerContext,
  ignoreReasons,
  isAlreadyExists,
  isConflict,
  isNamespaceTerminating,
  queueFor,
  recorderFor,
  withoutUndefined,
} from "#controllerkit";
import { type SeenPod, isReady, keyOf, splitKey } from "../pods.ts";
import {
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
import { type AddressPort, repack } from "./repack.ts";
import { TriggerTimes } from "./trigger-times.ts";

/** Maximum number of addresses in one object. */
const maxAddresses = 1000;

/** Returns the subsets of a service: groups of addresses that share ports. */
export const subsetsFor = (service: SeenService, pods: readonly SeenPod[]): EndpointSubset[] =>
  repack(pods.flatMap((pod) => addressPortsOf(service, pod)));

function addressPortsOf(service: SeenService, pod: SeenPod): AddressPort[] {
  const showUnready = Boolean(service.spec.publishNotReadyAddresses);
  const ip = addressOf(pod, service.spec.ipFamilies?.[0] ?? "IPv4");
  if (!ip || !isCandidate(pod, showUnready)) return [];
  const hostname = hostnameOf(pod, service);
  const address = {
    ip,
    ...(hostname && { hostname }),
    ...(pod.spec.nodeName && { nodeName: pod.spec.nodeName }),
    targetRef: targetOf(pod),
  };
  const ready = showUnready || isReady(pod);
  // Only a headless service may have no ports.
  if (!service.spec.ports?.length) return isHeadless(service) ? [{ address, port: undefined, ready }] : [];
  return portsOn(pod, service).map((port) => ({ address, port, ready }));
}

/**
 * Truncates subsets to the maximum number of addresses: ready addresses are preferred, and each subset keeps
 * its share.
 */
export function truncated(subsets: readonly EndpointSubset[]): {
  subsets: readonly EndpointSubset[];
  isTruncated: boolean;
} {
  const count = (of: "addresses" | "notReadyAddresses"): number =>
    subsets.reduce((total, subset) => total + (subset[of]?.length ?? 0), 0);
  const [ready, unready] = [count("addresses"), count("notReadyAddresses")];
  if (ready + unready <= maxAddresses) return { subsets, isTruncated: false };
  const isReadyCut = ready > maxAddresses;
  const [most, total] = isReadyCut ? [maxAddresses, ready] : [maxAddresses - ready, unready];
  let left = most;
  return {
    isTruncated: true,
    subsets: subsets.map(({ addresses = [], notReadyAddresses = [], ports }) => {
      const cut = isReadyCut ? addresses : notReadyAddresses;
      const kept = cut.slice(0, Math.min(left, Math.ceil((cut.length / total) * most)));
      left -= kept.length;
      const [first, second] = isReadyCut ? [kept, []] : [addresses, kept];
      return {
        ...(first.length > 0 && { addresses: first }),
        ...(second.length > 0 && { notReadyAddresses: second }),
        ...(ports && { ports }),
      };
    }),
  };
}

export function endpointsController(context: ControllerContext): Controller {
  const { client, view, dialect } = context;
  const { headlessService } = dialect.names.labels;
  const { endpointsTriggerTime, endpointsOverCapacity, leader } = dialect.names.annotations;
  const events = recorderFor(context, "endpoint-controller");
  const resource = client.of(kinds.endpoints);
  const triggers = new TriggerTimes();
  const queue = queueFor(context, "endpoint", sync);
  const { services, podsOf } = followServices(context, () => queue);
  const endpoints = view.follow(kinds.endpoints, ({ type, object }) => {
    if (type === "deleted") queue.add(keyOf(object));
  });
  void endpoints.synced.then(() => {
    // Services deleted while no controller was running left their endpoints behind.
    for (const { metadata } of endpoints.items())
      if (!metadata.annotations?.[leader]) queue.add(keyOf({ metadata }));
  });
  return { stopped: queue.stopped };

  async function sync(key: string): Promise<void> {
    const [namespace, name] = splitKey(key);
    const service = services.get(namespace, name);
    const present = endpoints.get(namespace, name);
    if (!service) {
      triggers.forget(key);
      if (present) await ignoreReasons(["NotFound"], resource.delete(name, { namespace }));
      return;
    }
    if (!hasSelector(service)) return;
    const pods = podsOf(service);
    const triggered = triggers.next(key, service, pods);
    const { subsets, isTruncated } = truncated(subsetsFor(service, pods));
    const labels = { ...service.metadata.labels };
    delete labels[headlessService];
    if (isHeadless(service)) labels[headlessService] = "";
    const before = present?.metadata.annotations ?? {};
    const isSame =
      present &&
      isDeepStrictEqual(withoutUndefined(present.subsets ?? []), withoutUndefined(subsets)) &&
      isDeepStrictEqual(present.metadata.labels ?? {}, labels) &&
      (before[endpointsOverCapacity] === "truncated") === isTruncated;
    if (isSame) return;
    const { [endpointsOverCapacity]: _, [endpointsTriggerTime]: __, ...rest } = before;
    const draft = {
      metadata: {
        ...present?.metadata,
        name,
        namespace,
        labels,
        annotations: {
          ...rest,
          ...(triggered !== undefined && { [endpointsTriggerTime]: triggered }),
          ...(isTruncated && { [endpointsOverCapacity]: "truncated" }),
        },
      },
      subsets: subsets as NonNullable<Endpoints["subsets"]>,
    };
    await write(service, present, draft);
  }

  async function write(
    service: SeenService,
    present: AnyObject | undefined,
    draft: Parameters<typeof resource.create>[0],
  ): Promise<void> {
    try {
      if (present) await resource.update(draft);
      else await resource.create(draft);
    } catch (error) {
      if (isNamespaceTerminating(error)) return;
      // The previous write of this controller has not been observed yet.
      if (isAlreadyExists(error) || isConflict(error)) throw error;
      const [reason, verb] = present
        ? (["FailedToUpdateEndpoint", "update"] as const)
        : (["FailedToCreateEndpoint", "create"] as const);
      const text = `Failed to ${verb} endpoint ${keyOf(service)}: ${(error as Error).message}`;
      events.event(present ?? service, "Warning", reason, text);
      throw error;
    }
  }
}
