// Sets up pod volumes from the settings: the objects they project, the mounter and the volume plug-ins.
import { kinds } from "#client";
import type { AgentLifecycle } from "./agent-lifecycle.ts";
import type { AgentDeps } from "./agent-parts.ts";
import type { NodeFacts, ReferencedObjects, VolumeMetrics, VolumePlugin } from "./interfaces.ts";
import { commandShell } from "./volumes/command-shell.ts";
import { type Mounter, systemMounter } from "./volumes/mounter.ts";
import { flexVolumePlugin } from "./volumes/plugins/flex-volume.ts";
import { referencedObjects } from "./volumes/referenced-objects.ts";
import { makeShared } from "./volumes/shared-root.ts";
import type { PodTokens } from "./volumes/tokens.ts";
import { type RunningVolumes, podVolumes } from "./volumes/volumes.ts";

export interface AgentVolumes {
  readonly objects: ReferencedObjects;
  readonly volumes: RunningVolumes;
}

export async function mounterFrom(
  { settings, clock, log }: AgentDeps,
  lifecycle: AgentLifecycle,
): Promise<Mounter> {
  const shell = commandShell(clock);
  lifecycle.resource("mount shell", () => shell.close());
  const mounter = systemMounter(settings.experimentalMounterPath, (command, args) =>
    shell.run(command, args),
  );
  await makeShared(mounter, settings.rootDir).catch((error: Error) =>
    log.warn("root directory is not a shared mount: bidirectional mount propagation will fail", {
      error: error.message,
    }),
  );
  return mounter;
}

/** The plug-in for FlexVolume drivers that an operator has installed. */
export const flexVolumesFrom = ({ settings, dialect, client }: AgentDeps, mounter: Mounter): VolumePlugin =>
  flexVolumePlugin({
    dialect,
    mounter,
    directory: settings.volumePluginDir,
    secret: async (namespace, name) => {
      if (!client) throw new Error("secrets of volumes require an API server");
      return (await client.of(kinds.secrets).get(name, { namespace })).data ?? {};
    },
  });

export function volumesFrom(
  { settings, dialect, client, clock, log, events }: AgentDeps,
  parts: {
    readonly mounter: Mounter;
    readonly node: NodeFacts;
    readonly podsFolder: string;
    readonly volumeMetrics: VolumeMetrics;
    readonly tokens: PodTokens;
    readonly plugins: readonly VolumePlugin[];
    readonly limitsMemory: boolean;
    /** Called with the UIDs of the pods that refer to a changed object. */
    readonly onChange: (uids: Iterable<string>) => void;
  },
  lifecycle: AgentLifecycle,
): AgentVolumes {
  const objects = referencedObjects({
    client,
    clock,
    log,
    strategy: settings.configMapAndSecretChangeDetectionStrategy,
    onChange: (uids) => parts.onChange(uids),
  });
  lifecycle.resource("referenced objects", () => objects.close());
  const volumes = podVolumes({
    dialect,
    client,
    clock,
    log,
    events,
    objects,
    node: parts.node,
    mounter: parts.mounter,
    volumeMetrics: parts.volumeMetrics,
    tokens: parts.tokens,
    plugins: parts.plugins,
    podsFolder: parts.podsFolder,
    keepTerminated: settings.keepTerminatedPodVolumes,
    unlimitedMemory: !parts.limitsMemory,
  });
  return { objects, volumes };
}
