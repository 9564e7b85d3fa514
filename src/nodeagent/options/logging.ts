// Settings for logs, metrics, traces and feature gates.

import type { Dialect } from "#dialect";
import {
  dialectOption,
  featureGates,
  fileOption,
  helpOption,
  hiddenMetricsVersion,
  knownGates,
  logDeclarations,
  maybe,
  nanoseconds,
  option,
  section,
  text,
  verbosityOption,
  versionOption,
} from "#options";
import { inFile } from "./later.ts";
import { tracing } from "./types.ts";

export const loggingSection = (dialect: Dialect) => {
  const moved = <const C extends string>(config: C) => ({ config, deprecated: inFile(config, dialect) });
  return section("Logging and general", [
    option({ ...logDeclarations.format, ...moved("logging.format"), zeroIsUnset: true }),
    option({
      ...logDeclarations.flushFrequency,
      config: "logging.flushFrequency",
      zeroIsUnset: true,
      type: nanoseconds,
    }),
    verbosityOption({ config: "logging.verbosity" }),
    option({ ...logDeclarations.modules, config: "logging.vmodule" }),
    option({ ...logDeclarations.splitStream, ...moved("logging.options.json.splitStream") }),
    option({ ...logDeclarations.infoBufferSize, ...moved("logging.options.json.infoBufferSize") }),
    fileOption({
      config: "showHiddenMetricsForVersion",
      type: text,
      default: "",
      check: hiddenMetricsVersion("1.26"),
      doc: "Show the metrics that are hidden since the previous minor version; only 1.26 is accepted.",
    }),
    fileOption({
      config: "tracing",
      type: maybe(tracing),
      default: undefined,
      gate: "NodeAgentTracing",
      doc: "Tracing: endpoint of a collector (localhost:4317 if not set; no TLS) and samplingRatePerMillion.",
    }),
    option({
      flag: "feature-gates",
      ...moved("featureGates"),
      type: featureGates(knownGates, dialect),
      default: {},
      doc: "Feature gates as Name=true or Name=false; AllAlpha and AllBeta set a whole stage.",
    }),
    dialectOption(dialect),
    versionOption,
    helpOption,
  ]);
};
