// Durations of extension points and plugins, and counts of plugin calls, under the names of the original.
import { type Counter, type Metrics, exponentialBuckets } from "#base";
import type { NodeRejection, PodView, Scorer } from "./framework.ts";
import type { NodeInfo } from "./node-info.ts";

export type ExtensionPoint =
  | "PreFilter"
  | "Filter"
  | "PostFilter"
  | "PreScore"
  | "Score"
  | "ScoreExtensionNormalize"
  | "Reserve"
  | "Unreserve"
  | "PreBind"
  | "Bind";

export type PluginStatus = "Success" | "Skip" | "Unschedulable" | "UnschedulableAndUnresolvable" | "Error";

/** Records the end of a call and its status. */
export type Finish = (status: PluginStatus) => void;

export interface ObservedView extends PodView {
  /** Counts the calls of the filter. */
  readonly filterCalls?: Counter;
}

/** Calls the prefilter of a plugin; in sampled cycles the returned filter is timed. */
export type ViewObserver = (plugin: string, prepare: () => PodView) => ObservedView;

/** Records the extension points and plugins of one scheduling cycle. */
export interface CycleMetrics {
  /** Starts measuring all plugins of an extension point. */
  start(point: ExtensionPoint): Finish;
  /** Starts measuring one plugin; undefined unless the cycle is sampled. */
  readonly startPlugin: ((point: ExtensionPoint, plugin: string) => Finish) | undefined;
  readonly view: ViewObserver;
  /** Like `view`, for preemption, where the prefilter is not recorded. */
  readonly simulatedView: ViewObserver;
}

export interface PluginMetrics {
  /** Starts recording a cycle; in sampled ones each call of a plugin is timed. */
  cycle(profile: string, isSampled: boolean): CycleMetrics;
}

/** Share of cycles in which plugins are timed. */
export const sampledShare = 0.1;

/** Plugins of the original without a prefilter: their view is prepared for the filter alone. */
const withoutPreFilter = new Set(["NodeUnschedulable", "NodeName", "TaintToleration", "NodeVolumeLimits"]);
/** Plugins of the original that score without preparation. */
const withoutPreScore = new Set(["ImageLocality"]);

export const statusOf = (rejection: NodeRejection | undefined): PluginStatus => {
  if (!rejection) return "Success";
  return rejection.isFinal ? "UnschedulableAndUnresolvable" : "Unschedulable";
};

const isSkipped = ({ rejectsPod, onlyNodes, filter }: PodView): boolean =>
  !rejectsPod && !onlyNodes && !filter;

/** `now` returns milliseconds with a fraction: plugins take microseconds. */
export function pluginMetrics(metrics: Metrics, now = (): number => performance.now()): PluginMetrics {
  const points = metrics.histogram({
    name: "scheduler_framework_extension_point_duration_seconds",
    help: "Time in seconds that all plugins of an extension point took.",
    labels: ["extension_point", "profile", "status"],
    stability: "STABLE",
    buckets: exponentialBuckets(0.0001, 2, 12),
  });
  const durations = metrics.histogram({
    name: "scheduler_plugin_execution_duration_seconds",
    help: "Time in seconds that one plugin took at an extension point, in sampled cycles.",
    labels: ["extension_point", "plugin", "status"],
    stability: "ALPHA",
    buckets: exponentialBuckets(0.00001, 1.5, 20),
  });
  const evaluations = metrics.counter({
    name: "scheduler_plugin_evaluation_total",
    help: "Number of calls of plugins at the extension points PreFilter and Filter.",
    labels: ["extension_point", "plugin", "profile"],
    stability: "ALPHA",
  });
  const startPlugin = (point: ExtensionPoint, plugin: string): Finish => {
    const startedAt = now();
    return (status) => durations.with(point, plugin, status).observe((now() - startedAt) / 1000);
  };
  return {
    cycle: (profile, isSampled) => {
      const observed = (plugin: string, given: PodView): ObservedView => {
        const { withNode } = given;
        const view = withNode
          ? {
              ...given,
              withNode: (before: NodeInfo, after: NodeInfo) => observed(plugin, withNode(before, after)),
            }
          : given;
        if (!view.filter) return view;
        const filterCalls = evaluations.with("Filter", plugin, profile);
        if (!isSampled) return { ...view, filterCalls };
        const filter = (node: NodeInfo): NodeRejection | undefined => {
          const finish = startPlugin("Filter", plugin);
          const rejection = view.filter?.(node);
          finish(statusOf(rejection));
          return rejection;
        };
        return { ...view, filter, filterCalls };
      };
      const simulatedView: ViewObserver = (plugin, prepare) => observed(plugin, prepare());
      return {
        start: (point) => {
          const startedAt = now();
          return (status) => points.with(point, profile, status).observe((now() - startedAt) / 1000);
        },
        startPlugin: isSampled ? startPlugin : undefined,
        simulatedView,
        view: (plugin, prepare) =>
          simulatedView(plugin, () => {
            if (withoutPreFilter.has(plugin)) return prepare();
            const finish = isSampled ? startPlugin("PreFilter", plugin) : undefined;
            const view = prepare();
            const skipped = isSkipped(view);
            finish?.(skipped ? "Skip" : statusOf(view.rejectsPod));
            if (!skipped) evaluations.with("PreFilter", plugin, profile).value++;
            return view;
          }),
      };
    },
  };
}

/** Calls the scorer of a plugin; in a sampled cycle its preparation and each score are timed. */
export function observedScorer(
  cycle: CycleMetrics | undefined,
  plugin: string,
  prepare: () => Scorer | undefined,
): Scorer | undefined {
  const start = cycle?.startPlugin;
  if (!start) return prepare();
  const prepared = withoutPreScore.has(plugin) ? undefined : start("PreScore", plugin);
  const scorer = prepare();
  prepared?.(scorer ? "Success" : "Skip");
  if (!scorer) return undefined;
  const { normalize } = scorer;
  return {
    score: (node) => {
      const finish = start("Score", plugin);
      const score = scorer.score(node);
      finish("Success");
      return score;
    },
    ...(normalize && {
      normalize: (scores: Map<string, number>) => {
        const finish = start("ScoreExtensionNormalize", plugin);
        normalize(scores);
        finish("Success");
      },
    }),
  };
}
