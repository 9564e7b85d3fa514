// Options of the cloud provider, metrics and logs, and of start-up and shutdown.

import type { Dialect } from "#dialect";
import {
  type OptionType,
  Refusal,
  Unparsable,
  bool,
  cidrs,
  dialectOption,
  duration,
  file,
  helpOption,
  hiddenMetricsVersion,
  logDeclarations,
  notNegative,
  oneOf,
  option,
  section,
  splitCommas,
  strings,
  text,
  verbosityOption,
  versionOption,
} from "#options";

/** `metric,label=value,value`; several entries are quoted or given in repeated flags. */
const metricLabels: OptionType<Readonly<Record<string, readonly string[]>>> = {
  name: "metric,label=value,...",
  parse: (given) => {
    const entries = given.split("=").length > 2 ? splitCommas(given) : [given.replace(/^"(.*)"$/, "$1")];
    return Object.fromEntries(
      // An empty part between other entries is ignored; an empty text is an invalid label.
      entries
        .filter((entry) => entry !== "" || given === "")
        .map((entry) => {
          const found = /^\s*([a-zA-Z_:][a-zA-Z0-9_:]*),([a-zA-Z_][a-zA-Z0-9_]*)='?([^=']*)'?\s*$/.exec(
            entry,
          );
          if (!entry.includes("=")) throw new Unparsable(`${entry} must be formatted as key=value`);
          if (!found) throw new Refusal("must be <metric>,<label>=<value>,<value>… ");
          return [`${found[1]},${found[2]}`, found[3]!.split(",")];
        }),
    );
  },
  append: (before, given) => ({ ...before, ...metricLabels.parse(given) }),
  read: (value) => Object.assign({}, ...strings.read(value).map((entry) => metricLabels.parse(entry))),
  write: (value) => Object.entries(value).map(([key, values]) => `${key}=${values.join(",")}`),
  format: (value) =>
    Object.entries(value)
      .map(([key, values]) => `${key}=${values.join(",")}`)
      .join(";"),
};

const noProvider = "no cloud provider is built in";
const externalOnly = (value: string): string | undefined =>
  value === "" || value === "external" ? undefined : `${noProvider}; external is for one that runs outside`;

const textOnly = "the log is text";

export const currentRelease = "1.27";
export const previousMinorVersion = "1.26";

export const observingSection = (dialect: Dialect) =>
  section("Cloud, metrics and logging", [
    option({
      flag: "cloud-provider",
      type: text,
      default: "",
      check: externalOnly,
      doc: "Cloud provider; empty for none, external for one that runs outside this process.",
    }),
    option({
      flag: "cloud-config",
      type: file,
      default: "",
      readable: true,
      notYet: noProvider,
      doc: "Configuration file of the cloud provider; empty for none.",
    }),
    option({
      flag: "cloud-provider-vendor-l7lb-src-cidrs",
      type: cidrs,
      default: ["130.211.0.0/22", "35.191.0.0/16"],
      idle: noProvider,
      doc: "Address ranges that one vendor's firewall opens for layer-7 load balancers and their health checks.",
    }),
    option({
      flag: "cloud-provider-vendor-lb-src-cidrs",
      type: cidrs,
      default: ["130.211.0.0/22", "209.85.152.0/22", "209.85.204.0/22", "35.191.0.0/16"],
      idle: noProvider,
      doc: "The same for layer-4 load balancers.",
      deprecated: `This flag will be removed once the GCE Cloud Provider is removed from ${dialect.cli.apiServer}`,
    }),
    option({
      flag: "vendor-container-registry-config",
      type: file,
      default: "",
      readable: true,
      notYet: noProvider,
      doc: "Configuration file of one vendor's container registry.",
    }),
    option({
      flag: "allow-metric-labels",
      type: metricLabels,
      default: {},
      doc: "Values to keep of a metric's label, as <metric>,<label>=<value>,<value>…; any other value is shown as unexpected. May be repeated.",
    }),
    option({
      flag: "disabled-metrics",
      type: strings,
      default: [],
      doc: "Whole names of metrics not to serve, even if hidden ones are shown.",
    }),
    option({
      flag: "show-hidden-metrics-for-version",
      type: text,
      default: "",
      check: hiddenMetricsVersion(previousMinorVersion),
      doc: `Show the metrics that are hidden since the previous minor version; only ${previousMinorVersion} is accepted. None are hidden at present.`,
    }),
    option({
      flag: "enable-logs-handler",
      type: bool,
      default: true,
      doc: "Serve the files of this machine's log folder at /logs, to whoever is allowed that path.",
    }),
    option(logDeclarations.flushFrequency),
    option({
      flag: "logging-format",
      type: oneOf("text"),
      default: "text",
      doc: "Format of the log; only text.",
    }),
    option({ ...logDeclarations.splitStream, idle: textOnly, unlisted: true }),
    option({ ...logDeclarations.infoBufferSize, idle: textOnly, unlisted: true }),
    verbosityOption({}),
    option({ ...logDeclarations.modules, doc: "Verbosity for single source files, as <pattern>=<level>,…" }),
    option({
      flag: "config",
      type: file,
      default: "",
      doc: "Configuration file: any of these settings, under their names in camel case. Flags win over the file. `orch config migrate -- orch-apiserver [flags]` writes one.",
    }),
    dialectOption(dialect),
    versionOption,
    helpOption,
  ]);

export const lifecycleSection = () =>
  section("Start and shutdown", [
    option({
      flag: "shutdown-delay-duration",
      type: duration,
      default: 0,
      check: notNegative,
      doc: "How long to go on serving after the signal to stop. Meanwhile /readyz fails, /livez and /healthz succeed, so that load balancers move on.",
    }),
    option({
      flag: "shutdown-send-retry-after",
      type: bool,
      default: false,
      doc: "Keep listening until requests in flight are done, and answer new ones with 429, Retry-After and Connection: close.",
    }),
    option({
      flag: "shutdown-watch-termination-grace-period",
      type: duration,
      default: 0,
      check: notNegative,
      doc: "Longest wait for open watches during shutdown, which are ended one after the other. With 0 they go on until their clients leave, for at most --request-timeout; with --shutdown-send-retry-after they end within a second.",
    }),
    option({
      flag: "livez-grace-period",
      type: duration,
      default: 0,
      check: notNegative,
      doc: "For this long after start /livez takes unfinished start-up work for granted.",
    }),
  ]);
