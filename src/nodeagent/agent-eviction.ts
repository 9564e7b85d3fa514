// Sets up eviction and image garbage collection from the settings.
import type { Pod } from "#api";
import { type DeadLimits, removeDeadContainer, surplusOfNode } from "./containers/dead-containers.ts";
import type { ObservedPod } from "./containers/observed.ts";
import type { AgentDeps } from "./agent-parts.ts";
import { type Eviction, eviction } from "./eviction/eviction.ts";
import { nodeReader } from "./eviction/node-reading.ts";
import { previewJson } from "./eviction/preview.ts";
import { parseThresholds } from "./eviction/thresholds.ts";
import { type MeasuredPod, usageOf } from "./eviction/usage.ts";
import { type ImageCollection, imageCollection } from "./images/image-collection.ts";
import { isFinished, uidOf } from "./pod.ts";
import type { CgroupTree } from "./resources/cgroup-tree.ts";
import { diskUsage } from "./resources/disk-usage.ts";
import type { Stats } from "./resources/stats.ts";
import type { PodFiles } from "./sync/pod-files.ts";
import type { PodEvictor, PodRegistry } from "./interfaces.ts";

export interface EvictionParts {
  readonly registry: PodRegistry;
  readonly evictor: PodEvictor;
  readonly stats: Pick<Stats, "get">;
  readonly tree: CgroupTree;
  readonly podsGroup: string;
  readonly observedPods: () => readonly ObservedPod[];
  readonly dead: DeadLimits;
  readonly files: Pick<PodFiles, "removeLog">;
  /** On-disk emptyDir volumes with a size limit; their usage is measured at every eviction pass. */
  readonly limited: (pod: Pod) => readonly { readonly volume: string; readonly path: string }[];
  readonly disruptionConditions: boolean;
  readonly onPressure: () => void;
  readonly onEvicted: (signal: string) => void;
}

export interface EvictionAndCollection {
  readonly eviction: Eviction;
  readonly images: ImageCollection;
  /** Returns as JSON what eviction would do now. */
  readonly preview: (signal: AbortSignal) => Promise<string>;
}

export function evictionFrom(
  { dialect, settings, clock, log, nodeName, machine, runtime, events }: AgentDeps,
  parts: EvictionParts,
): EvictionAndCollection {
  const { registry, tree, podsGroup } = parts;
  const rootDirectory = settings.rootDir;
  const reader = nodeReader({ clock, runtime, machine, tree, podsGroup, rootDirectory });
  const images = imageCollection({
    clock,
    log,
    runtime,
    events,
    node: { kind: "Node", name: nodeName, uid: nodeName },
    highPercent: settings.imageGcHighThreshold,
    lowPercent: settings.imageGcLowThreshold,
    minimumAgeMilliseconds: settings.minimumImageTtlDuration,
    maximumAgeMilliseconds: settings.imageMaximumGCAge ?? 0,
    sandboxImage: settings.podInfraContainerImage,
    disk: (signal) => reader.imageDisk(signal),
  });
  const evictions = eviction({
    clock,
    log,
    dialect,
    nodeName,
    events,
    thresholds: parseThresholds({
      hard: settings.evictionHard,
      soft: settings.evictionSoft,
      softGrace: settings.evictionSoftGracePeriod,
      minimumReclaim: settings.evictionMinimumReclaim,
      enforcePods: settings.enforceNodeAllocatable.includes("pods"),
    }),
    transitionMilliseconds: settings.evictionPressureTransitionPeriod,
    maxPodGraceSeconds: settings.evictionMaxPodGracePeriod,
    localStorage: settings.localStorageCapacityIsolation,
    watchMemory: settings.kernelMemcgNotification,
    disruptionConditions: parts.disruptionConditions,
    observe: (signal) => reader.observe(signal),
    dedicatedImageFs: () => reader.dedicatedImageFs(),
    pods: () => registry.pods().filter((pod) => !isFinished(pod)),
    measure,
    reclaimUnused: async (signal) => {
      const over = (uid: string): boolean => {
        const pod = registry.byUid(uid);
        return pod !== undefined && isFinished(pod);
      };
      const limits = { ...parts.dead, total: 0, ageMilliseconds: 0 };
      for (const container of surplusOfNode(parts.observedPods(), limits, clock.now(), over))
        await removeDeadContainer({ runtime, files: parts.files }, container, signal).catch(
          (error: unknown) => {
            const { id } = container;
            log.warn("failed to remove dead container", { id, error: (error as Error).message });
          },
        );
      await images.removeUnused(signal);
    },
    evictor: parts.evictor,
    onPressure: parts.onPressure,
    onEvicted: parts.onEvicted,
  });
  const preview = async (signal: AbortSignal): Promise<string> =>
    previewJson(await evictions.preview(signal), reader.dedicatedImageFs() ?? false);
  return { eviction: evictions, images, preview };

  async function measure(pods: readonly Pod[]): Promise<readonly MeasuredPod[]> {
    const statsByUid = new Map((await parts.stats.get()).pods.map((one) => [one.uid, one]));
    return await Promise.all(
      pods.map(async (pod): Promise<MeasuredPod> => {
        const found = statsByUid.get(uidOf(pod));
        if (!found) return { pod, usage: undefined };
        const fresh = await Promise.all(
          parts.limited(pod).map(async ({ volume, path }) => ({
            name: volume,
            isLocal: true,
            used: await diskUsage(path),
          })),
        );
        const others = found.volumes.filter(({ name }) => !fresh.some((one) => one.name === name));
        return { pod, usage: usageOf({ ...found, volumes: [...others, ...fresh] }) };
      }),
    );
  }
}
