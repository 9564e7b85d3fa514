// Attaches volumes to the nodes of the pods that use them by means of VolumeAttachments, and detaches them
// afterwards.
import { createHash } from "node:crypto";
import { kinds } from "#client";
import {
  type Controller,
  type ControllerContext,
  type Seen,
  type SeenVolume,
  ignoreReasons,
  isAlreadyExists,
  patchObject,
  queueFor,
  recorderFor,
} from "#controllerkit";
import { type SeenPod, conditionOf, isFinished } from "../pods.ts";
import { AttachFailures, attachFailedText } from "./attach-failures.ts";
import { isExclusive, multiAttachText } from "./multi-attach.ts";
import { Counts, pluginOf } from "./volume-metrics.ts";

type SeenNode = Seen<(typeof kinds)["nodes"]["schema"]>;

/** Maximum time to wait for a node that is not ready to unmount a volume. */
const unmountMilliseconds = 6 * 60_000;

interface Wanted {
  readonly volume: SeenVolume;
  readonly pods: readonly SeenPod[];
}

export const attachmentName = (handle: string, driver: string, node: string): string =>
  `csi-${createHash("sha256").update(`${handle}${driver}${node}`).digest("hex")}`;

export function attachDetachController(context: ControllerContext): Controller {
  const { client, clock, view, dialect, gates, metrics } = context;
  const { annotations, volumes: volumeNames } = dialect.names;
  const events = recorderFor(context, "attachdetach-controller");
  const attachmentClient = client.of(kinds.volumeAttachments);
  const queue = queueFor(context, "attachdetach", sync);
  /** Nodes waiting for a volume that is attached to another node, by volume name. */
  const waiting = new Map<string, Set<string>>();
  /** Monotonic time at which a detach was first requested while the volume was in use, by attachment name. */
  const detachRequestedAt = new Map<string, number>();
  const failures = new AttachFailures(clock);
  const pods = view.follow(kinds.pods, ({ object }) => {
    if (object.spec.nodeName && object.spec.volumes?.length) queue.add(object.spec.nodeName);
  });
  const onNode = pods.index("node", ({ spec }) => (spec.nodeName ? [spec.nodeName] : []));
  /** The volumes that deleted nodes last reported as in use: they may run on, with these volumes mounted. */
  const lastInUse = new Map<string, readonly string[]>();
  const nodes = view.follow(kinds.nodes, ({ type, object }) => {
    const name = object.metadata.name!;
    if (type === "deleted") lastInUse.set(name, object.status.volumesInUse ?? []);
    else lastInUse.delete(name);
    queue.add(name);
  });
  const claims = view.follow(kinds.persistentVolumeClaims, ({ object }) => {
    for (const pod of pods.inNamespace(object.metadata.namespace!))
      if (pod.spec.nodeName && claimsOf(pod).includes(object.metadata.name!)) queue.add(pod.spec.nodeName);
  });
  const volumes = view.follow(kinds.persistentVolumes);
  const drivers = view.follow(kinds.csiDrivers, () => {
    // The driver decides whether its volumes are attached at all.
    for (const { metadata } of nodes.items()) queue.add(metadata.name!);
  });
  const attachments = view.follow(kinds.volumeAttachments, ({ type, object: { metadata, spec } }) => {
    if (type === "deleted") {
      detachRequestedAt.delete(metadata.name!);
      failures.forget(metadata.name!);
    }
    queue.add(spec.nodeName);
    for (const nodeName of waiting.get(spec.source.persistentVolumeName ?? "") ?? []) queue.add(nodeName);
  });
  const ofVolume = attachments.index("volume", ({ spec }) => [spec.source.persistentVolumeName ?? ""]);
  const ofNode = attachments.index("node", ({ spec }) => [spec.nodeName]);
  const inUseCounts = new Counts(
    metrics,
    "storage_count_attachable_volumes_in_use",
    "Number of attachable volumes that pods use, by node and plugin.",
    ["node", "volume_plugin"],
  );
  const volumeCounts = new Counts(
    metrics,
    "attachdetach_controller_total_volumes",
    "Number of volumes to attach (desired_state_of_world) and attached (actual_state_of_world), by plugin.",
    ["plugin_name", "state"],
  );
  const forcedDetaches = metrics
    .counter({
      name: "attachdetach_controller_forced_detaches",
      help: "Number of volumes detached from a node that did not unmount them in time.",
      stability: "ALPHA",
    })
    .with();
  metrics.beforeScrape(countVolumes);
  return { stopped: queue.stopped };

  function countVolumes(): void {
    inUseCounts.clear();
    volumeCounts.clear();
    for (const { metadata } of nodes.items())
      for (const { volume, pods: users } of wantedOn(metadata.name!).values()) {
        const plugin = pluginOf(volume, dialect);
        volumeCounts.count(plugin, "desired_state_of_world");
        for (const _ of users) inUseCounts.count(metadata.name!, plugin);
      }
    for (const { spec, status } of attachments.items()) {
      const volume = volumes.get(undefined, spec.source.persistentVolumeName ?? "");
      if (volume && status.attached) volumeCounts.count(pluginOf(volume, dialect), "actual_state_of_world");
    }
  }

  function claimsOf({ metadata, spec }: SeenPod): string[] {
    return (spec.volumes ?? []).flatMap(
      ({ name, persistentVolumeClaim, ephemeral }) =>
        persistentVolumeClaim?.claimName ?? (ephemeral ? `${metadata.name}-${name}` : []),
    );
  }

  /** Returns the volumes that pods of a node need attached, by attachment name. */
  function wantedOn(nodeName: string): Map<string, Wanted> {
    const wanted = new Map<string, { volume: SeenVolume; pods: SeenPod[] }>();
    for (const pod of onNode(nodeName)) {
      if (isFinished(pod)) continue;
      for (const name of claimsOf(pod)) {
        const claim = claims.get(pod.metadata.namespace, name);
        const volume = claim?.spec.volumeName ? volumes.get(undefined, claim.spec.volumeName) : undefined;
        const csi = volume?.spec.csi;
        if (!volume || !csi || volume.spec.claimRef?.uid !== claim?.metadata.uid) continue;
        if (drivers.get(undefined, csi.driver)?.spec.attachRequired === false) continue;
        const key = attachmentName(csi.volumeHandle, csi.driver, nodeName);
        const entry = wanted.get(key) ?? { volume, pods: [] };
        wanted.set(key, entry);
        entry.pods.push(pod);
      }
    }
    return wanted;
  }

  /**
   * Reports whether a single-node volume is attached to another node; records one event on each waiting pod.
   */
  function isAttachedElsewhere({ volume, pods: waitingPods }: Wanted, nodeName: string): boolean {
    const name = volume.metadata.name!;
    const others = ofVolume(name).filter(({ spec }) => spec.nodeName !== nodeName);
    if (!isExclusive(volume) || others.length === 0) {
      stopWaiting(name, nodeName);
      return false;
    }
    const nodesWaiting = waiting.get(name) ?? new Set();
    if (nodesWaiting.has(nodeName)) return true;
    waiting.set(name, nodesWaiting.add(nodeName));
    if (!others.some(({ status }) => status.attached)) return true;
    const users = others.flatMap(
      ({ metadata, spec }) => wantedOn(spec.nodeName).get(metadata.name!)?.pods ?? [],
    );
    for (const pod of waitingPods)
      events.event(pod, "Warning", "FailedAttachVolume", multiAttachText(volume, pod, users));
    return true;
  }

  function stopWaiting(volumeName: string, nodeName: string): void {
    const nodesWaiting = waiting.get(volumeName);
    if (nodesWaiting?.delete(nodeName) && nodesWaiting.size === 0) waiting.delete(volumeName);
  }

  function isOutOfService({ spec: { taints } }: SeenNode): boolean {
    const { outOfService } = dialect.names.taints;
    return (
      gates.enabled("NodeOutOfServiceVolumeDetach") && (taints ?? []).some(({ key }) => key === outOfService)
    );
  }

  /** Returns how many milliseconds to wait for the node to unmount a volume that none of its pods needs. */
  function unmountWait(node: SeenNode | undefined, attachment: string): number {
    if (node && isOutOfService(node)) return 0;
    const since = detachRequestedAt.get(attachment) ?? clock.monotonic();
    detachRequestedAt.set(attachment, since);
    const isHealthy = conditionOf(node?.status.conditions, "Ready")?.status === "True";
    return isHealthy ? Infinity : Math.max(0, since + unmountMilliseconds - clock.monotonic());
  }

  async function sync(nodeName: string): Promise<{ requeueAfterMilliseconds: number } | void> {
    const node = nodes.get(undefined, nodeName);
    const wanted = wantedOn(nodeName);
    const wantedVolumes = new Set([...wanted.values()].map(({ volume }) => volume.metadata.name!));
    for (const name of waiting.keys()) if (!wantedVolumes.has(name)) stopWaiting(name, nodeName);
    const present = ofNode(nodeName).filter(({ metadata }) => metadata.name!.startsWith("csi-"));
    const isManaged = node?.metadata.annotations?.[annotations.controllerManagedAttach] === "true";
    /** A volume that cannot be attached or detached must not keep the others. */
    const problems: Error[] = [];
    const tried = (request: Promise<void>): Promise<unknown> =>
      request.catch((error: Error) => problems.push(error));
    if (node && isManaged)
      for (const [name, each] of wanted)
        if (!attachments.get(undefined, name) && !isAttachedElsewhere(each, nodeName))
          await tried(attach(name, each, nodeName));
    if (present.length === 0) lastInUse.delete(nodeName);
    const inUse = new Set(node?.status.volumesInUse ?? lastInUse.get(nodeName));
    const attached = new Map((node?.status.volumesAttached ?? []).map((each) => [each.name, each]));
    let hasChanged = false;
    let requeueAfter = Infinity;
    const nameOf = (volume: SeenVolume): string =>
      `${volumeNames.csiPrefix}${volume.spec.csi!.driver}^${volume.spec.csi!.volumeHandle}`;
    for (const { metadata, spec, status } of present) {
      const entry = wanted.get(metadata.name!);
      if (entry && status.attached && !attached.has(nameOf(entry.volume))) {
        hasChanged = true;
        attached.set(nameOf(entry.volume), { name: nameOf(entry.volume), devicePath: "" });
        const text = `AttachVolume.Attach succeeded for volume "${entry.volume.metadata.name}" `;
        for (const pod of entry.pods) events.event(pod, "Normal", "SuccessfulAttachVolume", text);
      }
      if (!entry || status.attached || metadata.deletionTimestamp) failures.forget(metadata.name!);
      else {
        const { failure, milliseconds } = failures.check({ metadata, status }, entry.volume);
        if (failure !== undefined) recordFailure(entry, failure);
        requeueAfter = Math.min(requeueAfter, milliseconds);
      }
      if (entry) {
        detachRequestedAt.delete(metadata.name!);
        continue;
      }
      const volume = volumes.get(undefined, spec.source.persistentVolumeName ?? "");
      const uniqueName = volume?.spec.csi ? nameOf(volume) : undefined;
      const isMounted = uniqueName !== undefined && inUse.has(uniqueName);
      const wait = isMounted ? unmountWait(node, metadata.name!) : 0;
      requeueAfter = Math.min(requeueAfter, wait || Infinity);
      if (wait > 0) continue;
      if (detachRequestedAt.delete(metadata.name!) && isMounted && !(node && isOutOfService(node)))
        forcedDetaches.add();
      if (uniqueName !== undefined && attached.delete(uniqueName)) hasChanged = true;
      if (!metadata.deletionTimestamp)
        await tried(
          ignoreReasons(["NotFound"], attachmentClient.delete(metadata.name!, { uid: metadata.uid! })),
        );
    }
    if (node && hasChanged) {
      const volumesAttached = attached.size > 0 ? [...attached.values()] : null;
      await patchObject(
        client.of(kinds.nodes),
        node,
        { status: { volumesAttached } },
        { subresource: "status", ifUnchanged: true },
      );
    }
    if (problems.length > 0) throw problems[0]!;
    if (requeueAfter < Infinity) return { requeueAfterMilliseconds: requeueAfter };
  }

  function recordFailure({ volume, pods: users }: Wanted, error: string): void {
    for (const pod of users)
      events.event(pod, "Warning", "FailedAttachVolume", attachFailedText(volume, error));
  }

  async function attach(name: string, wanted: Wanted, nodeName: string): Promise<void> {
    const { volume } = wanted;
    try {
      await attachmentClient.create({
        metadata: { name },
        spec: {
          attacher: volume.spec.csi!.driver,
          nodeName,
          source: { persistentVolumeName: volume.metadata.name! },
        },
      });
    } catch (error) {
      if (isAlreadyExists(error)) return;
      recordFailure(wanted, (error as Error).message);
      throw error;
    }
  }
}
