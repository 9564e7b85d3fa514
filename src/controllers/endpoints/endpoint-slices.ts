// EndpointSlices of services with a selector.
import type { Endpoint } from "#api";
import { kinds } from "#client";
import {
  type Controller,
  type ControllerContext,
  isConflict,
  isControlledBy,
  isNamespaceTerminating,
  queueFor,
  recorderFor,
} from "#controllerkit";
import { type SeenPod, isDeleting, isReady, keyOf, splitKey } from "../pods.ts";
import { TriggerTimes } from "./trigger-times.ts";
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
import { sliceMetrics } from "./slice-metrics.ts";
import { type OnWrite, removeSlices, writeSlices } from "./slice-writer.ts";
import { type Desired, type SeenSlice, type SlicePlan, planSlices } from "./slices.ts";
import {
  isNodeReady,
  isOverloaded,
  withHints,
  withOwnZones,
  withoutHints,
  zoneShares,
} from "./topology-hints.ts";

export function endpointSliceController(context: ControllerContext, maxPerSlice = 100): Controller {
  const { client, view, dialect, gates } = context;
  const { labels: labelNames, managers, annotations: annotationNames } = dialect.names;
  const events = recorderFor(context, "endpoint-slice-controller");
  const metrics = sliceMetrics(context.metrics, {
    prefix: "endpoint_slice_controller",
    maxPerSlice,
    countsUpdates: false,
  });
  const syncs = context.metrics.counter({
    name: "endpoint_slice_controller_syncs",
    help: "Number of syncs, by result (success, stale or error).",
    labels: ["result"],
    stability: "ALPHA",
  });
  const changedPerSync = context.metrics.histogram({
    name: "endpoint_slice_controller_endpointslices_changed_per_sync",
    help: "Number of EndpointSlices changed per sync, by topology (Auto or Disabled).",
    labels: ["topology"],
    stability: "ALPHA",
  });
  const queue = queueFor(context, "endpoint_slice", measured);
  /** Number of endpoints allocated to each zone by hints, by service and address type. */
  const triggers = new TriggerTimes();
  const hinted = new Map<string, Map<string, ReadonlyMap<string, number>>>();
  const { services, podsOf } = followServices(context, () => queue);
  const nodes = view.follow(kinds.nodes, (event) => {
    const isMoved = event.type !== "updated" || zoneOf(event.old) !== zoneOf(event.object);
    if (isMoved) for (const service of services.items()) queue.add(keyOf(service));
    if (hinted.size === 0 || !(isMoved || isNodeReady(event.old) !== isNodeReady(event.object))) return;
    const shares = zoneShares(nodes.items(), labelNames);
    for (const [key, byType] of hinted)
      if ([...byType.values()].some((allocated) => isOverloaded(allocated, shares))) queue.add(key);
  });
  const slices = view.follow(kinds.endpointSlices, ({ object }) => {
    const name = object.metadata.labels?.[labelNames.serviceName];
    if (isManaged(object) && name) queue.add(`${object.metadata.namespace}/${name}`);
  });
  const byService = slices.index("service", ({ metadata }) => [
    `${metadata.namespace}/${metadata.labels?.[labelNames.serviceName] ?? ""}`,
  ]);
  return { stopped: queue.stopped };

  function isManaged({ metadata }: { metadata: { labels?: Record<string, string> | undefined } }): boolean {
    return metadata.labels?.[labelNames.endpointSliceManagedBy] === managers.endpointSlices;
  }
  function zoneOf({
    metadata,
  }: {
    metadata: { labels?: Record<string, string> | undefined };
  }): string | undefined {
    return metadata.labels?.[labelNames.zone];
  }

  async function measured(key: string): Promise<void> {
    try {
      await sync(key);
      syncs.with("success").add();
    } catch (error) {
      syncs.with(isConflict(error) ? "stale" : "error").add();
      throw error;
    }
  }

  async function sync(key: string): Promise<void> {
    const [namespace, name] = splitKey(key);
    const service = services.get(namespace, name);
    if (!service) {
      hinted.delete(key);
      triggers.forget(key);
      metrics.forget(key);
    }
    if (!service || !hasSelector(service)) return;
    const present = byService(key).filter((slice) => isManaged(slice) && !slice.metadata.deletionTimestamp);
    // Slices of a deleted service of the same name are about to be garbage-collected and are not reused.
    const existing = present.filter((slice) => isControlledBy(slice, service.metadata.uid));
    const stale = present.filter((slice) => !existing.includes(slice));
    const all = podsOf(service).filter((pod) => isCandidate(pod, true));
    const pods = all.filter((pod) => service.spec.publishNotReadyAddresses || isOnKnownNode(pod));
    const families = service.spec.ipFamilies?.length ? service.spec.ipFamilies : ["IPv4"];
    const desired = families.flatMap((family) => desiredFor(service, pods, family));
    const labels = { ...service.metadata.labels };
    delete labels[labelNames.headlessService];
    const { endpointsTriggerTime } = annotationNames;
    const triggered = triggers.next(key, service, all);
    let changed = 0;
    const onWrite: OnWrite = (operation) => {
      metrics.written(operation);
      changed++;
    };
    const owner = {
      owner: service,
      labels: {
        ...labels,
        ...(isHeadless(service) && { [labelNames.headlessService]: "" }),
        [labelNames.serviceName]: name,
        [labelNames.endpointSliceManagedBy]: managers.endpointSlices,
      },
      annotate: (before: Annotations) => withAnnotation(before, endpointsTriggerTime, triggered),
      followsAnnotations: false,
      onWrite,
    };
    const unhinted = planSlices(desired, existing, maxPerSlice);
    metrics.planned(key, desired, unhinted, existing);
    const plan = hintedPlan(service, unhinted, existing);
    try {
      await writeSlices(client, owner, plan, existing);
      changedPerSync.with(usesTopology(service) ? "Auto" : "Disabled").observe(changed);
      await removeSlices(client, stale, metrics.written);
      // Nodes of these pods may not have been observed yet.
      const skippedPods = all.filter((pod) => !pods.includes(pod)).map((pod) => skippedText(service, pod));
      if (skippedPods.length > 0)
        throw new Error(skippedPods.length === 1 ? skippedPods[0] : `[${skippedPods.join(", ")}]`);
    } catch (error) {
      if (isConflict(error) || isNamespaceTerminating(error)) throw error;
      const text = `Error updating Endpoint Slices for Service ${key}: ${(error as Error).message}`;
      events.event(service, "Warning", "FailedToUpdateEndpointSlices", text);
      throw error;
    }
  }

  function skippedText(service: SeenService, { metadata, spec }: SeenPod): string {
    return `skipping Pod ${metadata.name} for Service ${keyOf(service)}: Node ${spec.nodeName ?? ""} Not Found`;
  }

  function isOnKnownNode({ spec: { nodeName } }: SeenPod): boolean {
    return nodes.get(undefined, nodeName ?? "") !== undefined;
  }

  function usesTopology({ metadata: { annotations } }: SeenService): boolean {
    const mode = annotations?.[annotationNames.topologyHints] ?? annotations?.[annotationNames.topologyMode];
    return gates.enabled("TopologyAwareHints") && (mode === "Auto" || mode === "auto");
  }

  /** Adds or removes topology hints, separately for each address type. */
  function hintedPlan(service: SeenService, plan: SlicePlan, existing: readonly SeenSlice[]): SlicePlan {
    const key = keyOf(service);
    const types = new Set([...plan.create, ...existing].map(({ addressType }) => addressType));
    const isOn = usesTopology(service);
    const recordEvent = (
      type: "Normal" | "Warning",
      reason: string,
      text: string,
      addressType: string,
    ): void => events.event(service, type, reason, `${text}, addressType: ${addressType}`);
    const parts = [...types].map((type) => {
      const existingOfType = existing.filter(({ addressType }) => addressType === type);
      const part = {
        create: plan.create.filter(({ addressType }) => addressType === type),
        update: plan.update.filter(({ slice }) => slice.addressType === type),
        remove: plan.remove.filter(({ addressType }) => addressType === type),
      };
      const before = hinted.get(key);
      if (!isOn) {
        if (before)
          recordEvent(
            "Warning",
            "TopologyAwareHintsDisabled",
            "Topology Aware Hints has been disabled",
            type,
          );
        hinted.delete(key);
        return service.spec.trafficDistribution === "PreferClose"
          ? withOwnZones(part, existingOfType)
          : withoutHints(part, existingOfType);
      }
      const outcome = withHints(part, existingOfType, zoneShares(nodes.items(), labelNames));
      if (typeof outcome.allocated === "string") {
        recordEvent("Warning", "TopologyAwareHintsDisabled", outcome.allocated, type);
        before?.delete(type);
        if (before?.size === 0) hinted.delete(key);
      } else {
        if (!before)
          recordEvent("Normal", "TopologyAwareHintsEnabled", "Topology Aware Hints has been enabled", type);
        hinted.set(key, (before ?? new Map()).set(type, outcome.allocated));
      }
      return outcome.plan;
    });
    return {
      create: parts.flatMap(({ create }) => create),
      update: parts.flatMap(({ update }) => update),
      remove: parts.flatMap(({ remove }) => remove),
    };
  }

  function desiredFor(service: SeenService, pods: readonly SeenPod[], family: string): Desired[] {
    const groups = new Map<string, { ports: readonly ResolvedPort[]; endpoints: Endpoint[] }>();
    for (const pod of pods) {
      const address = addressOf(pod, family);
      if (!address) continue;
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

type Annotations = Readonly<Record<string, string>>;

/** Returns the annotations with the key set, or removed if the value is undefined. */
function withAnnotation(before: Annotations, key: string, value: string | undefined): Annotations {
  const after = { ...before };
  delete after[key];
  return value === undefined ? after : { ...after, [key]: value };
}
