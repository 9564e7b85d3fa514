// Logs, metrics, traces; feature gates.

import type { Dialect } from "#dialect";
import {
  above,
  bool,
  bufferSize,
  dialectOption,
  featureGates,
  fileOption,
  helpOption,
  hiddenMetricsVersion,
  knownGates,
  maybe,
  nanoseconds,
  oneOf,
  option,
  section,
  text,
  verboseModules,
  verbosityOption,
  versionOption,
} from "#options";
import { inFile } from "./later.ts";
import { tracing } from "./types.ts";

export const loggingSection = (dialect: Dialect) => {
  const moved = <const C extends string>(config: C) => ({ config, deprecated: inFile(config, dialect) });
  return section("Logging and general", [
    option({
      flag: "logging-format",
      ...moved("logging.format"),
      zeroIsUnset: true,
      type: oneOf("text", "json"),
      default: "text",
      gate: "LoggingBetaOptions",
      doc: "Format of the log: text or json.",
    }),
    option({
      flag: "log-flush-frequency",
      config: "logging.flushFrequency",
      zeroIsUnset: true,
      type: nanoseconds,
      default: 5000,
      check: above(0),
      doc: "Longest time between two flushes of the log.",
    }),
    verbosityOption({ config: "logging.verbosity" }),
    option({
      flag: "vmodule",
      config: "logging.vmodule",
      type: verboseModules,
      default: [],
      doc: "Verbosity for single source files, as <pattern>=<level>,…; text format only.",
    }),
    option({
      flag: "log-json-split-stream",
      ...moved("logging.options.json.splitStream"),
      type: bool,
      default: false,
      gate: "LoggingAlphaOptions",
      doc: "Alpha. In JSON format write errors to standard error and the rest to standard output.",
    }),
    option({
      flag: "log-json-info-buffer-size",
      ...moved("logging.options.json.infoBufferSize"),
      type: bufferSize,
      default: "0",
      defaultText: "0",
      gate: "LoggingAlphaOptions",
      doc: "Alpha. Bytes of information held before they are written, such as 512, 1K or 2Ki; 0 holds none.",
    }),
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
      doc: "Where traces go: endpoint of a collector (localhost:4317 when not set; no TLS) and samplingRatePerMillion.",
    }),
    option({
      flag: "feature-gates",
      ...moved("featureGates"),
      type: featureGates(knownGates, dialect),
      default: {},
      doc: "Pairs Name=true or Name=false that switch features; AllAlpha and AllBeta speak for a whole stage.",
    }),
    dialectOption(dialect),
    versionOption,
    helpOption,
  ]);
};
