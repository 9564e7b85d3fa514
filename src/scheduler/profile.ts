// A profile: the plug-ins that a scheduler name stands for.
import type { NodeAffinity } from "#api";
import type { Plugin } from "./framework.ts";
import { interPodAffinity, usualHardWeight } from "./plugins/inter-pod-affinity.ts";
import {
  imageLocality,
  nodeAffinity,
  nodeName,
  nodePorts,
  nodeUnschedulable,
  taintToleration,
} from "./plugins/node.ts";
import {
  type FitSettings,
  type WeightedResource,
  balancedAllocation,
  resourcesFit,
  usualFit,
  usualResources,
} from "./plugins/resources.ts";
import { type SpreadDefaults, topologySpread } from "./plugins/topology-spread.ts";
import { volumeBinding, volumeLimits, volumeRestrictions, volumeZone } from "./volumes/volume-plugins.ts";

/** What can be set about plug-ins. */
export interface PluginSettings {
  readonly fit: FitSettings;
  readonly balanced: readonly WeightedResource[];
  readonly hardPodAffinityWeight: number;
  /** Whether pods without preferences of their own are placed without regard to those of other pods. */
  readonly ignoresPreferencesOfOthers: boolean;
  readonly spreadDefaults: SpreadDefaults;
  /** What nodes every pod needs and prefers, beside its own affinity. */
  readonly addedAffinity: NodeAffinity | undefined;
}

export const usualPluginSettings: PluginSettings = {
  fit: usualFit,
  balanced: usualResources,
  hardPodAffinityWeight: usualHardWeight,
  ignoresPreferencesOfOthers: false,
  spreadDefaults: "System",
  addedAffinity: undefined,
};

/** In the order in which they are asked; the first that rejects a node decides. */
export const pluginsWith = (settings: PluginSettings): readonly Plugin[] => [
  nodeUnschedulable,
  nodeName,
  taintToleration,
  nodeAffinity(settings.addedAffinity),
  nodePorts,
  resourcesFit(settings.fit),
  volumeRestrictions,
  volumeLimits,
  volumeBinding,
  volumeZone,
  topologySpread(settings.spreadDefaults),
  interPodAffinity(settings.hardPodAffinityWeight, settings.ignoresPreferencesOfOthers),
  balancedAllocation(settings.balanced),
  imageLocality,
];
export const defaultPlugins: readonly Plugin[] = pluginsWith(usualPluginSettings);

export const defaultSchedulerName = "default-scheduler";

export interface Profile {
  readonly schedulerName: string;
  readonly plugins: readonly Plugin[];
  /** Whether room is made for pods that fit nowhere; so unless said otherwise. */
  readonly preempts?: boolean;
  readonly percentageOfNodesToScore?: number;
}

export interface ProfileSettings {
  readonly schedulerName?: string;
  /** Names of plug-ins that are left out. */
  readonly disabled?: readonly string[];
  /** Other weights of scores, by plug-in; 0 leaves a score out. */
  readonly weights?: Readonly<Record<string, number>>;
}

/** Makes a profile; a plug-in that does not exist is an error. */
export function profileFrom({
  schedulerName = defaultSchedulerName,
  disabled = [],
  weights = {},
}: ProfileSettings): Profile {
  const names = new Set(defaultPlugins.map(({ name }) => name));
  for (const name of [...disabled.filter((each) => each !== "*"), ...Object.keys(weights)])
    if (!names.has(name)) throw new Error(`there is no scheduler plug-in ${name}`);
  const plugins = defaultPlugins
    .filter(({ name }) => !disabled.includes("*") && !disabled.includes(name))
    .map((plugin) => {
      const weight = weights[plugin.name];
      if (weight === undefined) return plugin;
      const { scorer, ...rest } = plugin;
      return weight === 0 ? rest : { ...rest, ...(scorer && { scorer }), weight };
    });
  return { schedulerName, plugins };
}
