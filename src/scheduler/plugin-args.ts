// The arguments of plug-ins in a scheduler's configuration file.
import type { TopologySpreadConstraint } from "#api";
import type { ScoringStrategy, WeightedResource } from "./plugins/resources.ts";
import { usualResources } from "./plugins/resources.ts";
import { type PluginSettings, usualPluginSettings } from "./profile.ts";
import {
  type FieldReader,
  readInteger,
  readList,
  readObject,
  readOneOf,
  readOnly,
  readText,
} from "./strict-fields.ts";

const resource = readObject({ name: readText, weight: readInteger(1, 100) });
const typeMeta = { apiVersion: readText, kind: readText };

const fitArgs = readObject({
  ...typeMeta,
  ignoredResources: readList(readText),
  ignoredResourceGroups: readList(readText),
  scoringStrategy: readObject({
    type: readOneOf("LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"),
    resources: readList(resource),
    requestedToCapacityRatio: readObject({
      shape: readList(readObject({ utilization: readInteger(0, 100), score: readInteger(0, 10) })),
    }),
  }),
});
const balancedArgs = readObject({ ...typeMeta, resources: readList(resource) });
const affinityArgs = readObject({
  ...typeMeta,
  hardPodAffinityWeight: readInteger(0, 100),
  ignorePreferredTermsOfExistingPods: readOnly([false], "preferences of existing pods always count"),
});
const spreadArgs = readObject({
  ...typeMeta,
  defaultingType: readOneOf("System", "List"),
  defaultConstraints: readList(
    readObject({
      maxSkew: readInteger(1, 2 ** 31 - 1),
      topologyKey: readText,
      whenUnsatisfiable: readOneOf("DoNotSchedule", "ScheduleAnyway"),
    }),
  ),
});
const preemptionArgs = readObject({
  ...typeMeta,
  minCandidateNodesPercentage: readOnly([10], "every node is looked at"),
  minCandidateNodesAbsolute: readOnly([100], "every node is looked at"),
});
const bindingArgs = readObject({
  ...typeMeta,
  bindTimeoutSeconds: readOnly([600], "volumes are waited for for ten minutes"),
});
const nodeAffinityArgs = readObject({
  ...typeMeta,
  addedAffinity: readOnly([], "affinity is added to pods by their owners only"),
});

type Change = (settings: PluginSettings) => PluginSettings;

/** What the arguments of a plug-in change; undefined for plug-ins without arguments. */
const changes: Readonly<Record<string, FieldReader<Change>>> = {
  NodeResourcesFit: (value, path, problems) => {
    const args = fitArgs(value, path, problems);
    const given = args.scoringStrategy;
    return (settings) => ({
      ...settings,
      fit: {
        strategy: given ? strategyOf(given, `${path}.scoringStrategy`, problems) : settings.fit.strategy,
        ignoredResources: args.ignoredResources ?? [],
        ignoredResourceGroups: args.ignoredResourceGroups ?? [],
      },
    });
  },
  NodeResourcesBalancedAllocation: (value, path, problems) => {
    const { resources } = balancedArgs(value, path, problems);
    return (settings) => ({ ...settings, balanced: weighted(resources) });
  },
  InterPodAffinity: (value, path, problems) => {
    const { hardPodAffinityWeight } = affinityArgs(value, path, problems);
    return (settings) => ({
      ...settings,
      hardPodAffinityWeight: hardPodAffinityWeight ?? settings.hardPodAffinityWeight,
    });
  },
  PodTopologySpread: (value, path, problems) => {
    const { defaultingType = "System", defaultConstraints = [] } = spreadArgs(value, path, problems);
    if (defaultingType === "System" && defaultConstraints.length > 0)
      problems.push(`${path}.defaultConstraints: needs defaultingType List`);
    for (const [index, each] of defaultConstraints.entries())
      for (const field of ["maxSkew", "topologyKey", "whenUnsatisfiable"] as const)
        if (each[field] === undefined)
          problems.push(`${path}.defaultConstraints[${index}].${field}: Required value`);
    return (settings) => ({
      ...settings,
      spreadDefaults:
        defaultingType === "System" ? "System" : (defaultConstraints as readonly TopologySpreadConstraint[]),
    });
  },
  DefaultPreemption: (value, path, problems) => {
    preemptionArgs(value, path, problems);
    return (settings) => settings;
  },
  VolumeBinding: (value, path, problems) => {
    bindingArgs(value, path, problems);
    return (settings) => settings;
  },
  NodeAffinity: (value, path, problems) => {
    nodeAffinityArgs(value, path, problems);
    return (settings) => settings;
  },
};

function strategyOf(
  given: NonNullable<ReturnType<typeof fitArgs>["scoringStrategy"]>,
  path: string,
  problems: string[],
): ScoringStrategy {
  const { type = "LeastAllocated", requestedToCapacityRatio } = given;
  const resources = weighted(given.resources);
  if (type !== "RequestedToCapacityRatio") return { type, resources };
  const shape = (requestedToCapacityRatio?.shape ?? []).map(({ utilization = 0, score = 0 }) => ({
    utilization,
    score,
  }));
  if (shape.length === 0)
    problems.push(`${path}.requestedToCapacityRatio.shape: at least one point is needed`);
  if (shape.some(({ utilization }, index) => index > 0 && utilization <= shape[index - 1]!.utilization))
    problems.push(
      `${path}.requestedToCapacityRatio.shape: utilization values must be sorted in increasing order`,
    );
  return { type, resources, shape };
}

const weighted = (
  given: readonly { readonly name?: string; readonly weight?: number }[] | undefined,
): readonly WeightedResource[] =>
  given === undefined || given.length === 0
    ? usualResources
    : given.map(({ name = "", weight = 1 }) => ({ name, weight }));

const pluginConfig = readList(
  readObject({ name: readText, args: ((value) => value) satisfies FieldReader<unknown> }),
);

/** Reads `pluginConfig` of a profile. */
export const readPluginConfig: FieldReader<PluginSettings> = (value, path, problems) => {
  let settings = usualPluginSettings;
  const seen = new Set<string>();
  for (const [index, { name = "", args }] of pluginConfig(value, path, problems).entries()) {
    const change = Object.hasOwn(changes, name) ? changes[name] : undefined;
    if (seen.has(name)) problems.push(`${path}[${index}]: Duplicate value: "${name}"`);
    seen.add(name);
    if (!change) problems.push(`${path}[${index}].name: there are no arguments for plug-in "${name}"`);
    else if (args !== undefined) settings = change(args, `${path}[${index}].args`, problems)(settings);
  }
  return settings;
};
