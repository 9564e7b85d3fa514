// The scheduler configuration file: profiles with plugins and arguments, backoffs, and leader election.
// Parsed strictly: unknown or unsupported settings are rejected with their path.
import { durationMillis } from "#base";
import type { Dialect } from "#dialect";
import { parseYaml } from "#schema";
import type { Plugin } from "./framework.ts";
import { readPluginConfig } from "./plugin-args.ts";
import { type Profile, defaultSchedulerName, pluginsWith, defaultPluginSettings } from "./profile.ts";
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

export interface SchedulerConfiguration {
  readonly profiles: readonly Profile[];
  readonly backoff: { readonly initialMilliseconds: number; readonly maxMilliseconds: number };
  /** Path of the client config in the file; takes precedence over flags. */
  readonly clientConfig?: string;
  readonly leaderElection: LeaderElection;
}

export interface LeaderElection {
  readonly leaderElect?: boolean;
  readonly leaseMilliseconds?: number;
  readonly renewMilliseconds?: number;
  readonly retryMilliseconds?: number;
  readonly resourceName?: string;
  readonly resourceNamespace?: string;
}

const versions = ["v1", "v1beta3"];
const maxInt32 = 2 ** 31 - 1;
/** Plugins of the original that are built into this scheduler, with their extension points. */
const fixedPoints = {
  PrioritySort: "queueSort",
  SchedulingGates: "preEnqueue",
  DefaultBinder: "bind",
} as const;
const fixed: readonly string[] = Object.keys(fixedPoints);
const preemption = "DefaultPreemption";
/** Plugins of the original for volume limits of cloud providers, which have no effect here. */
const cloudVolumeLimits = ["EBSLimits", "GCEPDLimits", "AzureDiskLimits", "CinderLimits"];

const readDuration: FieldReader<number> = (value, path, problems) => {
  try {
    return durationMillis(readText(value, path, problems));
  } catch {
    problems.push(`${path}: must be a duration, such as 15s`);
    return 0;
  }
};

const pluginSet = readObject({
  enabled: readList(readObject({ name: readText, weight: readInteger(0, maxInt32) })),
  disabled: readList(readObject({ name: readText })),
});
type PluginSet = ReturnType<typeof pluginSet>;
/** Rejects a non-empty list at an extension point that cannot be configured separately. */
const notConfigurable: FieldReader<undefined> = (value, path, problems) => {
  const { enabled = [], disabled = [] } = pluginSet(value, path, problems);
  if (enabled.length + disabled.length > 0)
    problems.push(
      `${path}: this extension point cannot be configured separately: use multiPoint, filter, postFilter or score`,
    );
  return undefined;
};
const pluginPoints = readObject({
  multiPoint: pluginSet,
  filter: pluginSet,
  postFilter: pluginSet,
  score: pluginSet,
  preEnqueue: pluginSet,
  queueSort: pluginSet,
  preFilter: notConfigurable,
  preScore: notConfigurable,
  reserve: notConfigurable,
  permit: notConfigurable,
  preBind: notConfigurable,
  bind: pluginSet,
  postBind: notConfigurable,
});

const profile = readObject({
  schedulerName: readText,
  percentageOfNodesToScore: readInteger(0, 100),
  plugins: pluginPoints,
  pluginConfig: readPluginConfig,
});

const readFile = (dialect: Dialect) =>
  readObject({
    apiVersion: readText,
    kind: readText,
    parallelism: readOnly([16], "one pod is scheduled at a time"),
    leaderElection: readObject({
      leaderElect: readBoolean,
      leaseDuration: readDuration,
      renewDeadline: readDuration,
      retryPeriod: readDuration,
      resourceLock: readOneOf("leases"),
      resourceName: readText,
      resourceNamespace: readText,
    }),
    clientConnection: readObject({
      [dialect.cli.clientConfigFlag]: readText,
      acceptContentTypes: readOnly([""], "the client chooses the encoding itself"),
      contentType: readOnly(["", dialect.wire.protobufMediaType], "the client chooses the encoding itself"),
      qps: readOnly([50], "requests are limited by the server"),
      burst: readOnly([100], "requests are limited by the server"),
    }),
    enableProfiling: readOnly([false], "profiling is not supported"),
    enableContentionProfiling: readOnly([false], "the runtime has no lock contention to profile"),
    percentageOfNodesToScore: readInteger(0, 100),
    podInitialBackoffSeconds: readInteger(1, maxInt32),
    podMaxBackoffSeconds: readInteger(1, maxInt32),
    profiles: readList(profile),
    extenders: readOnly([], "extenders are not supported"),
  });

/** Parses a configuration file; throws one error that lists every problem. */
export function schedulerConfiguration(text: string, dialect: Dialect): SchedulerConfiguration {
  const problems: string[] = [];
  const { value, duplicate } = parseYaml(text);
  problems.push(...duplicate);
  const file = readFile(dialect)(value, "", problems);
  const { group, kind } = configurationKind(dialect);
  if (!versions.some((version) => file.apiVersion === `${group}/${version}`))
    problems.push(`apiVersion: must be one of ${versions.map((each) => `${group}/${each}`).join(", ")}`);
  if (file.kind !== kind) problems.push(`kind: must be ${kind}`);
  const { podInitialBackoffSeconds: initialBackoff = 1, podMaxBackoffSeconds: maxBackoff = 10 } = file;
  if (maxBackoff < initialBackoff)
    problems.push("podMaxBackoffSeconds: must be at least podInitialBackoffSeconds");
  const given = file.profiles?.length ? file.profiles : [{}];
  const profiles = given.map((each, index) => {
    const path = `profiles[${index}]`;
    if (given.length > 1 && !each.schedulerName) problems.push(`${path}.schedulerName: Required value`);
    const schedulerName = each.schedulerName || defaultSchedulerName;
    const percentage = each.percentageOfNodesToScore ?? file.percentageOfNodesToScore;
    const parsed = profileOf(each, schedulerName, path, problems);
    return { ...parsed, ...(percentage !== undefined && { percentageOfNodesToScore: percentage }) };
  });
  const names = profiles.map(({ schedulerName }) => schedulerName);
  for (const [index, name] of names.entries())
    if (names.indexOf(name) < index)
      problems.push(`profiles[${index}].schedulerName: Duplicate value: "${name}"`);
  problems.push(...electionProblems(file.leaderElection ?? {}));
  if (problems.length > 0) throw new Error(problems.join("; "));
  const election = file.leaderElection ?? {};
  const clientConfig = (file.clientConnection as Readonly<Record<string, string>> | undefined)?.[
    dialect.cli.clientConfigFlag
  ];
  return {
    profiles,
    backoff: { initialMilliseconds: initialBackoff * 1000, maxMilliseconds: maxBackoff * 1000 },
    ...(clientConfig && { clientConfig }),
    leaderElection: {
      ...(election.leaderElect !== undefined && { leaderElect: election.leaderElect }),
      ...(election.leaseDuration !== undefined && { leaseMilliseconds: election.leaseDuration }),
      ...(election.renewDeadline !== undefined && { renewMilliseconds: election.renewDeadline }),
      ...(election.retryPeriod !== undefined && { retryMilliseconds: election.retryPeriod }),
      ...(election.resourceName && { resourceName: election.resourceName }),
      ...(election.resourceNamespace && { resourceNamespace: election.resourceNamespace }),
    },
  };
}

function electionProblems(given: {
  readonly leaderElect?: boolean;
  readonly leaseDuration?: number;
  readonly renewDeadline?: number;
  readonly retryPeriod?: number;
}): string[] {
  const { leaderElect = true, leaseDuration = 15_000, renewDeadline = 10_000, retryPeriod = 2000 } = given;
  if (!leaderElect) return [];
  const problems: string[] = [];
  if (leaseDuration <= renewDeadline)
    problems.push("leaderElection.leaseDuration: must be greater than renewDeadline");
  if (renewDeadline <= retryPeriod)
    problems.push("leaderElection.renewDeadline: must be greater than retryPeriod");
  return problems;
}

/**
 * Returns the API group and kind, as `kubescheduler.config.k8s.io` and `KubeSchedulerConfiguration` in the
 * original's dialect.
 */
function configurationKind({ data, wire }: Dialect): { readonly group: string; readonly kind: string } {
  const prefix = data.componentPrefix.replaceAll("-", "");
  return {
    group: `${prefix}scheduler.config.${wire.groupSuffix}`,
    kind: `${prefix.slice(0, 1).toUpperCase()}${prefix.slice(1)}SchedulerConfiguration`,
  };
}

function profileOf(
  given: ReturnType<typeof profile>,
  schedulerName: string,
  path: string,
  problems: string[],
): Profile {
  const settings = given.pluginConfig ?? defaultPluginSettings;
  const all = pluginsWith(settings);
  const points = given.plugins ?? {};
  const { multiPoint = {}, filter = {}, score = {}, postFilter = {} } = points;
  const namesWith = (part: "view" | "scorer"): string[] => all.filter((each) => each[part]).map(nameOf);
  const allowed = {
    multiPoint: [...all.map(nameOf), ...fixed, ...cloudVolumeLimits, preemption],
    filter: [...namesWith("view"), ...cloudVolumeLimits],
    score: namesWith("scorer"),
    postFilter: [preemption],
    preEnqueue: ["SchedulingGates"],
    queueSort: ["PrioritySort"],
    bind: ["DefaultBinder"],
  };
  for (const [point, known] of Object.entries(allowed) as [keyof typeof allowed, string[]][]) {
    const names = (points[point]?.enabled ?? []).map(({ name = "" }) => name);
    for (const [index, name] of names.entries()) {
      const at = `${path}.plugins.${point}.enabled[${index}].name`;
      if (!allowed.multiPoint.includes(name)) problems.push(`${at}: unknown plugin "${name}"`);
      else if (!known.includes(name)) problems.push(`${at}: plugin "${name}" does not implement ${point}`);
      if (names.indexOf(name) < index) problems.push(`${at}: Duplicate value: "${name}"`);
    }
  }
  for (const [name, point] of Object.entries(fixedPoints)) {
    // Without the gates plugin a gated pod would be bound, which the server rejects; "*" does not disable it.
    const isMeant = point !== "preEnqueue" || !hasStar(multiPoint);
    if (isMeant && !isEnabled(name, points[point] ?? {}, isEnabled(name, multiPoint, true)))
      problems.push(`${path}.plugins: "${name}" cannot be disabled here`);
  }
  const isOn = (name: string, set: PluginSet): boolean =>
    isEnabled(name, set, isEnabled(name, multiPoint, true));
  const plugins = all.flatMap((plugin): Plugin[] => {
    const { view, scorer, weight, ...rest } = plugin;
    const scores = scorer && isOn(plugin.name, score);
    const filters = view && isOn(plugin.name, filter);
    if (!scores && !filters) return [];
    const named = weightIn(plugin.name, score) ?? weightIn(plugin.name, multiPoint) ?? weight;
    return [
      {
        ...rest,
        ...(filters && { view }),
        ...(scores && { scorer, ...(named !== undefined && { weight: named }) }),
      },
    ];
  });
  const { candidateLimits } = settings;
  return { schedulerName, plugins, preempts: isOn(preemption, postFilter), candidateLimits };
}

const nameOf = ({ name }: Plugin): string => name;
const hasStar = ({ disabled = [] }: PluginSet): boolean => disabled.some(({ name }) => name === "*");

/** A plugin that is enabled by name is on even if "*" is disabled. */
function isEnabled(name: string, { enabled = [], disabled = [] }: PluginSet, before: boolean): boolean {
  if (enabled.some((each) => each.name === name)) return true;
  return before && !disabled.some((each) => each.name === name || each.name === "*");
}

/** Returns the configured weight; 0 stands for the default. */
const weightIn = (name: string, { enabled = [] }: PluginSet): number | undefined =>
  enabled.find((each) => each.name === name)?.weight || undefined;
