// Volume plugins for data from the API server: config maps, secrets, downward API, projected volumes.
import { mkdir } from "node:fs/promises";
import type { Pod } from "#api";
import type { Clock } from "#base";
import type { VolumePlugin, VolumeSpec } from "../../interfaces.ts";
import { namespaceOf } from "../../pod.ts";
import { type Payload, setDirectoryGroup, writeAtomically } from "../atomic-writer.ts";
import type { Mounter } from "../mounter.ts";
import {
  type PayloadSources,
  configMapPayload,
  downwardPayload,
  projectedPayload,
  secretPayload,
} from "../payload.ts";
import { memorySize, sharedMode } from "./local-plugins.ts";
import { fsGroupOf, openToAll } from "./sharing.ts";

export interface PayloadPluginOptions {
  readonly clock: Clock;
  readonly mounter: Mounter;
  readonly sources: PayloadSources;
}

const defaultFileMode = 0o644;
const modeOf = (source: { readonly defaultMode?: number | undefined }): number =>
  source.defaultMode ?? defaultFileMode;

export function payloadPlugins({ clock, mounter, sources }: PayloadPluginOptions): VolumePlugin[] {
  /** Types that may hold secrets are kept in memory. */
  const plugin = (
    name: string,
    inMemory: boolean,
    supports: (spec: VolumeSpec) => boolean,
    payloadOf: (pod: Pod, spec: VolumeSpec) => Promise<Payload> | Payload,
  ): VolumePlugin => ({
    name,
    supports,
    mount: async (pod, spec, directory) => {
      const payload = await payloadOf(pod, spec);
      const group = fsGroupOf(pod);
      if (inMemory && !(await mounter.below(directory)).includes(directory))
        await mounter.tmpfs(directory, {
          ...memorySize(pod, sources.allocatable(), undefined),
          mode: sharedMode,
        });
      await mkdir(directory, { recursive: true });
      await openToAll(directory);
      if (group !== undefined) await setDirectoryGroup(directory, group);
      await writeAtomically(directory, payload, clock.now(), group);
      return { hostPath: directory, readOnly: true, selinuxRelabel: true };
    },
    refresh: async (pod, spec, directory) => {
      await writeAtomically(directory, await payloadOf(pod, spec), clock.now(), fsGroupOf(pod));
    },
  });
  return [
    plugin(
      "configmap",
      false,
      ({ volume }) => Boolean(volume.configMap),
      (pod, { volume: { configMap } }) =>
        configMapPayload(sources, namespaceOf(pod), configMap!.name ?? "", configMap!, modeOf(configMap!)),
    ),
    plugin(
      "secret",
      true,
      ({ volume }) => Boolean(volume.secret),
      (pod, { volume: { secret } }) =>
        secretPayload(sources, namespaceOf(pod), secret!.secretName ?? "", secret!, modeOf(secret!)),
    ),
    plugin(
      "downward-api",
      true,
      ({ volume }) => Boolean(volume.downwardAPI),
      (pod, { volume: { downwardAPI } }) =>
        downwardPayload(sources, pod, downwardAPI!.items ?? [], modeOf(downwardAPI!)),
    ),
    plugin(
      "projected",
      true,
      ({ volume }) => Boolean(volume.projected),
      (pod, { volume: { projected } }) =>
        projectedPayload(sources, pod, projected!.sources ?? [], projected!.defaultMode),
    ),
  ];
}
