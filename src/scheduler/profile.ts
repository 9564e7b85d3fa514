// Scheduler profiles: the plugins behind a scheduler name.
import type { NodeAffinity } from "#api";
import type { Plugin } from "./framework.ts";
import { interPodAffinity, defaultHardWeight } from "./plugins/inter-pod-affinity.ts";
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
  defaultFit,
  defaultResources,
} from "./plugins/resources.ts";
import { type CandidateLimits, defaultCandidateLimits } from "./preemption.ts";
import { type SpreadDefaults, topologySpread } from "./plugins/topology-spread.ts";
import { volumeBinding, volumeLimits, volumeRestrictions, volumeZone } from "./volumes/volume-plugins.ts";

/** Configurable settings of plugins. */
export interface PluginSettings {
  readonly fit: FitSettings;
  readonly balanced: readonly WeightedResource[];
  readonly hardPodAffinityWeight: number;
  /** Whether preferred terms of existing pods are ignored for pods without preferences. */
  readonly ignoresPreferencesOfOthers: boolean;
  readonly spreadDefaults: SpreadDefaults;
  readonly candidateLimits: CandidateLimits;
  /** Node affinity applied to every pod in addition to its own. */
  readonly addedAffinity: NodeAffinity | undefined;
}

export const defaultPluginSettings: PluginSettings = {
  fit: defaultFit,
  balanced: defaultResources,
  hardPodAffinityWeight: defaultHardWeight,
  ignoresPreferencesOfOthers: false,
  spreadDefaults: "System",
  candidateLimits: defaultCandidateLimits,
  addedAffinity: undefined,
};

/** Returns the plugins in the order they run; the first one to reject a node decides. */
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
export const defaultPlugins: readonly Plugin[] = pluginsWith(defaultPluginSettings);

export const defaultSchedulerName = "default-scheduler";

export interface Profile {
  readonly schedulerName: string;
  readonly plugins: readonly Plugin[];
  /** Whether preemption is enabled; true by default. */
  readonly preempts?: boolean;
  readonly candidateLimits?: CandidateLimits;
  readonly percentageOfNodesToScore?: number;
}

export interface ProfileSettings {
  readonly schedulerName?: string;
  /** Names of disabled plugins. */
  readonly disabled?: readonly string[];
  /** Score weights by plugin; 0 disables its scoring. */
  readonly weights?: Readonly<Record<string, number>>;
}

/** Creates a profile; throws if a named plugin does not exist. */
export function profileFrom({
  schedulerName = defaultSchedulerName,
  disabled = [],
  weights = {},
}: ProfileSettings): Profile {
  const names = new Set(defaultPlugins.map(({ name }) => name));
  for (const name of [...disabled.filter((each) => each !== "*"), ...Object.keys(weights)])
    if (!names.has(name)) throw new Error(`unknown scheduler plugin ${name}`);
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
