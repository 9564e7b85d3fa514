// The metrics that every program of the control plane has about itself.
import { type Metrics, createMetrics, minorOf, processMetrics } from "#base";
import { buildInfo, featureMetrics } from "#http";
import { gatesIn, knownGates } from "#options";
import type { ProgramName } from "./run-program.ts";

/** Creates the metrics of a program whose feature gates have the stages of a release. */
export function programMetrics(
  { dialect, enabled }: Pick<ProgramName, "dialect" | "enabled">,
  release = "1.27",
): Metrics {
  const metrics = createMetrics();
  processMetrics(metrics);
  buildInfo(metrics, dialect);
  featureMetrics(metrics, { dialect, gates: gatesIn(knownGates, minorOf(release)), enabled });
  return metrics;
}
