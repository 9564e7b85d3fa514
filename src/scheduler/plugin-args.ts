// Plugin arguments in a scheduler configuration file.
import type { NodeAffinity, TopologySpreadConstraint } from "#api";
import { isQualifiedName } from "#base";
import type { ScoringStrategy, WeightedResource } from "./plugins/resources.ts";
import { defaultFit, defaultResources } from "./plugins/resources.ts";
import { type PluginSettings, defaultPluginSettings } from "./profile.ts";
import {
  type FieldReader,
  readBoolean,
  readInteger,
  readList,
  readObject,
  readOneOf,
  readOnly,
  readText,
} from "./strict-fields.ts";

const maxInt32 = 2 ** 31 - 1;
const resource = readObject({ name: readText, weight: readInteger(0, 100) });
const typeMeta = { apiVersion: readText, kind: readText };

const strategies = ["LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"] as const;
const fitArgs = readObject({
  ...typeMeta,
  ignoredResources: readList(readText),
  ignoredResourceGroups: readList(readText),
  scoringStrategy: readObject({
    type: readOneOf(...strategies),
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
  ignorePreferredTermsOfExistingPods: readBoolean,
});
const spreadArgs = readObject({
  ...typeMeta,
  defaultingType: readOneOf("System", "List"),
  defaultConstraints: readList(
    readObject({
      maxSkew: readInteger(1, maxInt32),
      minDomains: readInteger(1, maxInt32),
      topologyKey: readText,
      whenUnsatisfiable: readOneOf("DoNotSchedule", "ScheduleAnyway"),
      nodeAffinityPolicy: readOneOf("Honor", "Ignore"),
      nodeTaintsPolicy: readOneOf("Honor", "Ignore"),
    }),
  ),
});
const preemptionArgs = readObject({
  ...typeMeta,
  minCandidateNodesPercentage: readInteger(0, 100),
  minCandidateNodesAbsolute: readInteger(0, maxInt32),
});
const bindingArgs = readObject({
  ...typeMeta,
  bindTimeoutSeconds: readOnly([600], "the timeout is always ten minutes"),
});
const requirements = readList(
  readObject({
    key: readText,
    operator: readOneOf("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"),
    values: readList(readText),
  }),
);
const nodeTerm = readObject({ matchExpressions: requirements, matchFields: requirements });
const nodeAffinityArgs = readObject({
  ...typeMeta,
  addedAffinity: readObject({
    requiredDuringSchedulingIgnoredDuringExecution: readObject({ nodeSelectorTerms: readList(nodeTerm) }),
    preferredDuringSchedulingIgnoredDuringExecution: readList(
      readObject({ weight: readInteger(1, 100), preference: nodeTerm }),
    ),
  }),
});

type Change = (settings: PluginSettings) => PluginSettings;
const invalidName = (text: string): string => `"${text}" is not a qualified name`;

/**
 * Readers of plugin arguments that return the resulting change of settings; absent for plugins without
 * arguments.
 */
const changes: Readonly<Record<string, FieldReader<Change>>> = {
  NodeResourcesFit: (value, path, problems) => {
    const args = fitArgs(value, path, problems);
    const given = args.scoringStrategy;
    for (const [index, name] of (args.ignoredResources ?? []).entries())
      if (!isQualifiedName(name)) problems.push(`${path}.ignoredResources[${index}]: ${invalidName(name)}`);
    for (const [index, name] of (args.ignoredResourceGroups ?? []).entries())
      if (name.includes("/") || !isQualifiedName(name))
        problems.push(`${path}.ignoredResourceGroups[${index}]: ${invalidName(name)}`);
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
    const names = (resources ?? []).map(({ name }) => name);
    for (const [index, { name, weight }] of (resources ?? []).entries()) {
      if (weight && weight !== 1) problems.push(`${path}.resources[${index}].weight: must be 1`);
      if (names.indexOf(name) < index)
        problems.push(`${path}.resources[${index}].name: Duplicate value: "${name}"`);
    }
    return (settings) => ({ ...settings, balanced: weighted(resources) });
  },
  InterPodAffinity: (value, path, problems) => {
    const { hardPodAffinityWeight, ignorePreferredTermsOfExistingPods } = affinityArgs(value, path, problems);
    return (settings) => ({
      ...settings,
      hardPodAffinityWeight: hardPodAffinityWeight ?? settings.hardPodAffinityWeight,
      ignoresPreferencesOfOthers: ignorePreferredTermsOfExistingPods ?? false,
    });
  },
  PodTopologySpread: (value, path, problems) => {
    const { defaultingType = "System", defaultConstraints = [] } = spreadArgs(value, path, problems);
    if (defaultingType === "System" && defaultConstraints.length > 0)
      problems.push(`${path}.defaultConstraints: needs defaultingType List`);
    const seen = new Set<string>();
    for (const [index, each] of defaultConstraints.entries()) {
      const at = `${path}.defaultConstraints[${index}]`;
      for (const field of ["maxSkew", "topologyKey", "whenUnsatisfiable"] as const)
        if (each[field] === undefined) problems.push(`${at}.${field}: Required value`);
      const { topologyKey = "", whenUnsatisfiable } = each;
      if (topologyKey && !isQualifiedName(topologyKey))
        problems.push(`${at}.topologyKey: ${invalidName(topologyKey)}`);
      const pair = `{${topologyKey}, ${whenUnsatisfiable}}`;
      if (seen.has(pair)) problems.push(`${at}: Duplicate value: "${pair}"`);
      seen.add(pair);
    }
    return (settings) => ({
      ...settings,
      spreadDefaults:
        defaultingType === "System" ? "System" : (defaultConstraints as readonly TopologySpreadConstraint[]),
    });
  },
  DefaultPreemption: (value, path, problems) => {
    const { minCandidateNodesPercentage: percentage = 10, minCandidateNodesAbsolute: absolute = 100 } =
      preemptionArgs(value, path, problems);
    if (percentage === 0 && absolute === 0)
      problems.push(`${path}.minCandidateNodesAbsolute: must not be 0 if minCandidateNodesPercentage is 0`);
    return (settings) => ({ ...settings, candidateLimits: { percentage, absolute } });
  },
  VolumeBinding: (value, path, problems) => {
    bindingArgs(value, path, problems);
    return (settings) => settings;
  },
  NodeAffinity: (value, path, problems) => {
    const { addedAffinity } = nodeAffinityArgs(value, path, problems);
    return (settings) => ({ ...settings, addedAffinity: addedAffinity as NodeAffinity | undefined });
  },
};

function strategyOf(
  given: NonNullable<ReturnType<typeof fitArgs>["scoringStrategy"]>,
  path: string,
  problems: string[],
): ScoringStrategy {
  const { type, requestedToCapacityRatio } = given;
  if (type === undefined) {
    problems.push(`${path}.type: must be one of ${strategies.join(", ")}`);
    return defaultFit.strategy;
  }
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
    ? defaultResources
    : given.map(({ name = "", weight }) => ({ name, weight: weight || 1 }));

const pluginConfig = readList(
  readObject({ name: readText, args: ((value) => value) satisfies FieldReader<unknown> }),
);

/** Parses `pluginConfig` of a profile. */
export const readPluginConfig: FieldReader<PluginSettings> = (value, path, problems) => {
  let settings = defaultPluginSettings;
  const seen = new Set<string>();
  for (const [index, { name = "", args }] of pluginConfig(value, path, problems).entries()) {
    const change = Object.hasOwn(changes, name) ? changes[name] : undefined;
    if (seen.has(name)) problems.push(`${path}[${index}]: Duplicate value: "${name}"`);
    seen.add(name);
    if (!change) problems.push(`${path}[${index}].name: plugin "${name}" has no arguments`);
    else if (args !== undefined) {
      const at = `${path}[${index}].args`;
      settings = change(args, at, problems)(settings);
      const { kind } = (args ?? {}) as { readonly kind?: unknown };
      if (kind && kind !== `${name}Args`) problems.push(`${at}.kind: must be ${name}Args`);
    }
  }
  return settings;
};
