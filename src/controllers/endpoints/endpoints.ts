// Endpoints: the addresses of each service's pods, in one object of the service's name.
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
import { inOrder } from "./subset-order.ts";
import { TriggerTimes } from "./trigger-times.ts";

type Address = NonNullable<EndpointSubset["addresses"]>[number];

/** An object holds at most so many addresses. */
const mostAddresses = 1000;

interface Listed {
  readonly address: Address;
  readonly ready: boolean;
}

/** The subsets for a service: ports that the same addresses have together. */
export function subsetsFor(service: SeenService, pods: readonly SeenPod[]): EndpointSubset[] {
  const family = service.spec.ipFamilies?.[0] ?? "IPv4";
  const showUnready = Boolean(service.spec.publishNotReadyAddresses);
  /** The addresses of each port; those without ports have a key of their own. */
  const byPort = new Map<string, { readonly port: ResolvedPort | undefined; readonly listed: Listed[] }>();
  for (const pod of pods) {
    const ip = addressOf(pod, family);
    if (!ip || !isCandidate(pod, showUnready)) continue;
    const ports = portsOn(pod, service);
    if (ports.length === 0 && !(isHeadless(service) && !service.spec.ports?.length)) continue;
    const hostname = hostnameOf(pod, service);
    const address: Address = {
      ip,
      ...(hostname && { hostname }),
      ...(pod.spec.nodeName && { nodeName: pod.spec.nodeName }),
      targetRef: targetOf(pod),
    };
    const listed = { address, ready: showUnready || isReady(pod) };
    for (const port of ports.length > 0 ? ports : [undefined]) {
      const key = JSON.stringify(port ?? null);
      const group = byPort.get(key);
      // Two ports of a service may lead to one port of a pod.
      if (group?.listed.at(-1)?.address === address) continue;
      if (group) group.listed.push(listed);
      else byPort.set(key, { port, listed: [listed] });
    }
  }
  const byAddresses = new Map<
    string,
    { readonly ports: ResolvedPort[]; readonly listed: readonly Listed[] }
  >();
  for (const { port, listed } of byPort.values()) {
    const sorted = listed.toSorted((a, b) => compareAddresses(a.address, b.address));
    const key = JSON.stringify(
      sorted.map(({ address, ready }) => [address.ip, address.targetRef?.uid, ready]),
    );
    let group = byAddresses.get(key);
    if (!group) byAddresses.set(key, (group = { ports: [], listed: sorted }));
    if (port) group.ports.push(port);
  }
  return inOrder(
    [...byAddresses.values()].map(({ ports, listed }) => {
      const addresses = listed.filter(({ ready }) => ready).map(({ address }) => address);
      const notReadyAddresses = listed.filter(({ ready }) => !ready).map(({ address }) => address);
      return {
        ...(addresses.length > 0 && { addresses }),
        ...(notReadyAddresses.length > 0 && { notReadyAddresses }),
        ...(ports.length > 0 && {
          ports: ports.map(({ name, ...rest }) => ({ ...(name && { name }), ...rest })),
        }),
      };
    }),
  );
}

const compareAddresses = (a: Address, b: Address): number =>
  compareText(a.ip, b.ip) || compareText(a.targetRef?.uid ?? "", b.targetRef?.uid ?? "");

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Ready addresses stay before others where there are too many. */
export function truncated(subsets: readonly EndpointSubset[]): {
  subsets: readonly EndpointSubset[];
  isCut: boolean;
} {
  const count = (of: "addresses" | "notReadyAddresses"): number =>
    subsets.reduce((total, subset) => total + (subset[of]?.length ?? 0), 0);
  if (count("addresses") + count("notReadyAddresses") <= mostAddresses) return { subsets, isCut: false };
  let ready = mostAddresses;
  let unready = Math.max(0, mostAddresses - count("addresses"));
  return {
    isCut: true,
    subsets: subsets.flatMap((subset) => {
      const addresses = (subset.addresses ?? []).slice(0, ready);
      const notReadyAddresses = (subset.notReadyAddresses ?? []).slice(0, unready);
      ready -= addresses.length;
      unready -= notReadyAddresses.length;
      if (addresses.length + notReadyAddresses.length === 0) return [];
      return [
        {
          ...(addresses.length > 0 && { addresses }),
          ...(notReadyAddresses.length > 0 && { notReadyAddresses }),
          ...(subset.ports && { ports: subset.ports }),
        },
      ];
    }),
  };
}

export function endpointsController(context: ControllerContext): Controller {
  const { client, view, dialect } = context;
  const { headlessService } = dialect.names.labels;
  const { endpointsTriggerTime, endpointsOverCapacity } = dialect.names.annotations;
  const events = recorderFor(context, "endpoint-controller");
  const resource = client.of(kinds.endpoints);
  const triggers = new TriggerTimes();
  const queue = queueFor(context, "endpoint", sync);
  const { services, podsOf } = followServices(context, () => queue);
  const endpoints = view.follow(kinds.endpoints, ({ type, object }) => {
    if (type === "deleted") queue.add(keyOf(object));
  });
  return { stopped: queue.stopped };

  async function sync(key: string): Promise<void> {
    const [namespace, name] = splitKey(key);
    const service = services.get(namespace, name);
    const present = endpoints.get(namespace, name);
    if (!service) {
      triggers.forget(key);
      // What a service without selector has was made by somebody else.
      if (present && !present.metadata.annotations?.[dialect.names.annotations.leader])
        await ignoreReasons(["NotFound"], resource.delete(name, { namespace }));
      return;
    }
    if (!hasSelector(service)) return;
    const pods = podsOf(service);
    const triggered = triggers.next(key, service, pods);
    const { subsets, isCut } = truncated(subsetsFor(service, pods));
    const labels = { ...service.metadata.labels };
    delete labels[headlessService];
    if (isHeadless(service)) labels[headlessService] = "";
    const before = present?.metadata.annotations ?? {};
    const isSame =
      present &&
      isDeepStrictEqual(withoutUndefined(present.subsets ?? []), withoutUndefined(subsets)) &&
      isDeepStrictEqual(present.metadata.labels ?? {}, labels) &&
      (before[endpointsOverCapacity] === "truncated") === isCut;
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
          ...(isCut && { [endpointsOverCapacity]: "truncated" }),
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
      // Our own last write has not been seen yet.
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
