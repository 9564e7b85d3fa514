// Metrics of every program: its version and its feature gates.
import { type Metrics, versionInfo } from "#base";
import type { Dialect } from "#dialect";
import type { Gate } from "#options";

/** Exports the version as labels. */
export function buildInfo(metrics: Metrics, dialect: Dialect, info = versionInfo()): void {
  metrics
    .gauge({
      name: `${dialect.data.metricPrefix}build_info`,
      help: "Constant 1 with the build information of the program as labels.",
      stability: "ALPHA",
      labels: [
        "major",
        "minor",
        "git_version",
        "git_commit",
        "git_tree_state",
        "build_date",
        "go_version",
        "compiler",
        "platform",
      ],
    })
    .with(
      ...[
        "major",
        "minor",
        "gitVersion",
        "gitCommit",
        "gitTreeState",
        "buildDate",
        "goVersion",
        "compiler",
      ].map((field) => info[field] ?? ""),
      info["platform"] ?? "",
    )
    .set(1);
}

/** Exports every gate and whether it is on; gates that are locked have no stage. */
export function featureMetrics(
  metrics: Metrics,
  {
    dialect,
    gates,
    enabled,
  }: {
    readonly dialect: Dialect;
    readonly gates: readonly Gate[];
    readonly enabled: (gate: string) => boolean;
  },
): void {
  const feature = metrics.gauge({
    name: `${dialect.data.metricPrefix}feature_enabled`,
    help: "Whether a feature gate is enabled: 1 if it is, 0 if not; labeled by name and stage.",
    stability: "ALPHA",
    labels: ["name", "stage"],
  });
  for (const { name, stage } of gates)
    feature.with(dialect.spelling.word(name), stage === "GA" ? "" : stage).set(enabled(name) ? 1 : 0);
}
