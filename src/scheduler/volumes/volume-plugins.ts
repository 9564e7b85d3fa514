// Volume plugins: exclusive claims, limits, zones, and delayed binding.
import { type SeenVolume, claimClass, findMatchingVolume } from "#controllerkit";
import type { Plugin, PodView, NodeRejection, Snapshot } from "../framework.ts";
import type { NodeInfo, SeenPod } from "../node-info.ts";
import { matchesTerms } from "../plugins/node-terms.ts";
import { conflicts, disksOf } from "./disk-conflict.ts";
import { capacityCheck } from "./storage-capacity.ts";
import { type VolumeReservation, type VolumeView, claimsOf } from "./volume-view.ts";

const reject = (plugin: string, reason: string, isFinal = true): NodeRejection => ({
  plugin,
  reasons: [reason],
  isFinal,
});

export const volumeRestrictions: Plugin = {
  name: "VolumeRestrictions",
  requeueEvents: ["pod deleted", "node added", "claim"],
  view: (pod, { nodes, volumes, gates }): PodView => {
    const disks = disksOf(pod);
    const claims = gates.enabled("ReadWriteOncePod") ? claimsOf(pod) : [];
    const exclusive = claims.filter(({ name }) =>
      volumes.claim(pod.metadata.namespace!, name)?.spec.accessModes?.includes("ReadWriteOncePod"),
    );
    if (exclusive.length + disks.length === 0) return {};
    const hasDisk = ({ pods }: NodeInfo): boolean =>
      disks.length > 0 &&
      [...pods.values()].some((other) =>
        disksOf(other).some((taken) => disks.some((disk) => conflicts(disk, taken))),
      );
    const usersOn = ({ pods }: NodeInfo): number =>
      [...pods.values()].filter(
        (other) =>
          other.metadata.namespace === pod.metadata.namespace &&
          claimsOf(other).some(({ name }) => exclusive.some((each) => each.name === name)),
      ).length;
    const reason =
      "node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode";
    const viewFor = (users: number): PodView => ({
      filter: (node) => {
        if (hasDisk(node)) return reject("VolumeRestrictions", "node(s) had no available disk", false);
        return users > 0 ? reject("VolumeRestrictions", reason, false) : undefined;
      },
      withNode: (before, after) => viewFor(users - usersOn(before) + usersOn(after)),
    });
    return viewFor([...nodes.values()].reduce((sum, node) => sum + usersOn(node), 0));
  },
};

/** Returns the CSI volumes of a pod as driver and handle. */
function handlesOf(
  pod: SeenPod,
  volumes: VolumeView,
): { readonly driver: string; readonly handle: string }[] {
  return claimsOf(pod).flatMap(({ name }) => {
    const claim = volumes.claim(pod.metadata.namespace!, name);
    const csi = claim?.spec.volumeName ? volumes.volume(claim.spec.volumeName)?.spec.csi : undefined;
    if (csi) return [{ driver: csi.driver, handle: csi.volumeHandle }];
    const provisioner = claim && volumes.storageClass(claim.spec.storageClassName ?? "")?.provisioner;
    return provisioner ? [{ driver: provisioner, handle: `${pod.metadata.namespace}/${name}` }] : [];
  });
}

export const volumeLimits: Plugin = {
  name: "NodeVolumeLimits",
  requeueEvents: ["csi node", "pod deleted", "node added"],
  view: (pod, { volumes }) => {
    const wanted = handlesOf(pod, volumes);
    if (wanted.length === 0) return {};
    return {
      filter: ({ name, pods }) => {
        const drivers = volumes.csiNode(name)?.spec.drivers ?? [];
        for (const { name: driver, allocatable } of drivers) {
          const limit = allocatable?.count;
          if (typeof limit !== "number" || !wanted.some((each) => each.driver === driver)) continue;
          const handles = new Set(
            [...pods.values(), pod]
              .flatMap((each) => handlesOf(each, volumes))
              .filter((each) => each.driver === driver)
              .map(({ handle }) => handle),
          );
          if (handles.size > limit)
            return reject("NodeVolumeLimits", "node(s) exceed max volume count", false);
        }
        return undefined;
      },
    };
  },
};

export const volumeZone: Plugin = {
  name: "VolumeZone",
  requeueEvents: ["storage class", "node added", "node labels", "claim", "volume"],
  view: (pod, { volumes, dialect }) => {
    const { zone, region, betaZone, betaRegion } = dialect.names.labels;
    const keys = [zone, region, betaZone, betaRegion];
    const wanted = claimsOf(pod).flatMap(({ name }) => {
      const volume = volumes.volume(volumes.claim(pod.metadata.namespace!, name)?.spec.volumeName ?? "");
      const labels = volume?.metadata.labels ?? {};
      return keys.flatMap((key) =>
        labels[key] === undefined ? [] : [{ key, values: labels[key].split("__") }],
      );
    });
    if (wanted.length === 0) return {};
    return {
      filter: ({ labels }) => {
        // In a cluster without zone labels, every node matches.
        if (!keys.some((key) => labels[key] !== undefined)) return undefined;
        return wanted.every(({ key, values }) => values.includes(labels[key] ?? ""))
          ? undefined
          : reject("VolumeZone", "node(s) had no available volume zone");
      },
    };
  },
};

/** What must be done to bind a pod's claims on a node. */
export interface VolumeDecision {
  readonly bind: readonly { readonly claim: string; readonly volume: string }[];
  /** Claims whose volumes are to be provisioned for the node. */
  readonly provision: readonly string[];
}

const plugin = "VolumeBinding";

export const volumeBinding: Plugin = {
  name: plugin,
  requeueEvents: [
    "storage class",
    "claim",
    "volume",
    "node added",
    "node labels",
    "csi node",
    "csi driver",
    "storage capacity",
  ],
  view: (pod, snapshot): PodView => {
    const sorted = sortClaims(pod, snapshot);
    if ("rejectsPod" in sorted) return sorted;
    if (sorted.bound.length + sorted.waiting.length === 0) return {};
    const only = nodesOf(sorted.bound, snapshot.dialect.names.labels.hostname);
    const hasCapacity = capacityOf(pod, snapshot, sorted.waiting);
    return {
      ...(only && { onlyNodes: only }),
      filter: (node) => {
        const decision = decide(pod, node, snapshot, sorted);
        if ("plugin" in decision) return decision;
        return decision.provision.every((name) => hasCapacity(name, node))
          ? undefined
          : reject(plugin, "node(s) did not have enough free storage");
      },
    };
  },
};

/** Returns the nodes that bound volumes are restricted to, as far as they name them by hostname. */
function nodesOf(bound: readonly SeenVolume[], hostname: string): ReadonlySet<string> | undefined {
  let remaining: ReadonlySet<string> | undefined;
  for (const { spec } of bound) {
    const names = new Set<string>();
    for (const { matchExpressions } of spec.nodeAffinity?.required?.nodeSelectorTerms ?? []) {
      const named = (matchExpressions ?? []).filter(
        ({ key, operator }) => key === hostname && operator === "In",
      );
      const [first, ...others] = named.map(({ values }) => new Set(values ?? []));
      for (const name of first ?? []) if (others.every((each) => each.has(name))) names.add(name);
    }
    if (names.size > 0) remaining = remaining?.intersection(names) ?? names;
  }
  return remaining;
}

/** Returns whether a volume for a claim, given by its name, can be provisioned with enough storage for a node. */
function capacityOf(
  { metadata: { namespace } }: SeenPod,
  { volumes, dialect }: Snapshot,
  waiting: readonly string[],
): (name: string, node: NodeInfo) => boolean {
  const checks = new Map(
    waiting.flatMap((name) => {
      const claim = volumes.claim(namespace!, name)!;
      const storageClass = volumes.storageClass(claimClass(claim, dialect));
      return storageClass ? [[name, capacityCheck(claim, storageClass, volumes)] as const] : [];
    }),
  );
  return (name, node) => checks.get(name)?.(node) ?? true;
}

interface SortedClaims {
  readonly bound: readonly SeenVolume[];
  /** Claims that wait for their first consumer, by name. */
  readonly waiting: readonly string[];
  readonly reserved: Reserved;
}

/** What pods that are being bound have reserved. */
interface Reserved {
  /** Volumes by claim. */
  readonly volumes: ReadonlyMap<string, string>;
  /** Nodes for which volumes are being provisioned, by claim. */
  readonly nodes: ReadonlyMap<string, string>;
}

function reservedBy(reservations: Iterable<VolumeReservation>): Reserved {
  const volumes = new Map<string, string>();
  const nodes = new Map<string, string>();
  for (const { node, bound, provisioned } of reservations) {
    for (const [claim, volume] of bound) volumes.set(claim, volume);
    for (const claim of provisioned) nodes.set(claim, node);
  }
  return { volumes, nodes };
}

function sortClaims(
  pod: SeenPod,
  { volumes, dialect }: Snapshot,
): SortedClaims | { readonly rejectsPod: NodeRejection } {
  const namespace = pod.metadata.namespace!;
  const bound: SeenVolume[] = [];
  const waiting: string[] = [];
  let hasImmediate = false;
  for (const { name, isEphemeral } of claimsOf(pod)) {
    const claim = volumes.claim(namespace, name);
    if (!claim)
      return {
        rejectsPod: reject(
          plugin,
          isEphemeral
            ? `waiting for ephemeral volume controller to create the persistentvolumeclaim "${name}"`
            : `persistentvolumeclaim "${name}" not found`,
        ),
      };
    if (claim.status.phase === "Lost")
      return {
        rejectsPod: reject(
          plugin,
          `persistentvolumeclaim "${name}" bound to non-existent persistentvolume "${claim.spec.volumeName}"`,
        ),
      };
    if (claim.metadata.deletionTimestamp)
      return { rejectsPod: reject(plugin, `persistentvolumeclaim "${name}" is being deleted`) };
    if (isEphemeral && !claim.metadata.ownerReferences?.some(({ uid }) => uid === pod.metadata.uid))
      return {
        rejectsPod: reject(
          plugin,
          `PVC ${namespace}/${name} was not created for pod ${namespace}/${pod.metadata.name} (pod is not owner)`,
        ),
      };
    if (claim.spec.volumeName && claim.metadata.annotations?.[dialect.names.annotations.bindCompleted]) {
      const volume = volumes.volume(claim.spec.volumeName);
      if (!volume)
        return {
          rejectsPod: reject(
            plugin,
            "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)",
          ),
        };
      bound.push(volume);
      continue;
    }
    const mode = volumes.storageClass(claimClass(claim, dialect))?.volumeBindingMode;
    if (mode === "WaitForFirstConsumer" && !claim.spec.volumeName) waiting.push(name);
    else hasImmediate = true;
  }
  if (hasImmediate) return { rejectsPod: reject(plugin, "pod has unbound immediate PersistentVolumeClaims") };
  const reservations = waiting.length > 0 ? volumes.reservations.values() : [];
  return { bound, waiting, reserved: reservedBy(reservations) };
}

export const canReach = ({ name, labels }: NodeInfo, { spec }: SeenVolume): boolean =>
  !spec.nodeAffinity?.required ||
  matchesTerms(spec.nodeAffinity.required.nodeSelectorTerms ?? [], { name, labels });

function decide(
  pod: SeenPod,
  node: NodeInfo,
  { volumes, dialect }: Snapshot,
  { bound, waiting, reserved }: SortedClaims,
): VolumeDecision | NodeRejection {
  if (!bound.every((volume) => canReach(node, volume)))
    return reject(plugin, "node(s) had volume node affinity conflict");
  const excluded = new Set(reserved.volumes.values());
  const bind: { claim: string; volume: string }[] = [];
  const provision: string[] = [];
  const conflict = reject(plugin, "node(s) didn't find available persistent volumes to bind");
  for (const name of waiting) {
    const claim = volumes.claim(pod.metadata.namespace!, name)!;
    const key = `${pod.metadata.namespace}/${name}`;
    const selected =
      claim.metadata.annotations?.[dialect.names.annotations.selectedNode] ?? reserved.nodes.get(key);
    if (selected) {
      if (selected !== node.name) return conflict;
      provision.push(name);
      continue;
    }
    const isReachable = (volume: SeenVolume): boolean => canReach(node, volume);
    const chosen = reserved.volumes.get(key);
    if (chosen !== undefined) {
      // Another pod with this claim is being bound: both need the same volume.
      const volume = volumes.volume(chosen);
      if (!volume || !isReachable(volume)) return conflict;
      bind.push({ claim: name, volume: chosen });
      continue;
    }
    const found = findMatchingVolume(claim, volumes.volumes(), { dialect, excluded, isReachable });
    if (found) {
      excluded.add(found.metadata.name!);
      bind.push({ claim: name, volume: found.metadata.name! });
      continue;
    }
    const storageClass = volumes.storageClass(claimClass(claim, dialect));
    if (!storageClass || storageClass.provisioner === dialect.names.volumes.noProvisioner) return conflict;
    const terms = storageClass.allowedTopologies ?? [];
    const isAllowed =
      terms.length === 0 ||
      terms.some(({ matchLabelExpressions }) =>
        (matchLabelExpressions ?? []).every(({ key, values }) => values?.includes(node.labels[key] ?? "")),
      );
    if (!isAllowed) return conflict;
    provision.push(name);
  }
  return { bind, provision };
}

/** Returns the volume decision for the chosen node. */
export function volumeDecision(pod: SeenPod, node: NodeInfo, snapshot: Snapshot): VolumeDecision | undefined {
  const sorted = sortClaims(pod, snapshot);
  if ("rejectsPod" in sorted || sorted.waiting.length === 0) return undefined;
  const decision = decide(pod, node, snapshot, sorted);
  return "plugin" in decision ? undefined : decision;
}

/** Returns what a pod reserves while it is bound. */
export function reservationOf(
  { metadata: { namespace } }: SeenPod,
  node: string,
  { bind, provision }: VolumeDecision,
): VolumeReservation {
  return {
    node,
    bound: new Map(bind.map(({ claim, volume }) => [`${namespace}/${claim}`, volume])),
    provisioned: new Set(provision.map((claim) => `${namespace}/${claim}`)),
  };
}
