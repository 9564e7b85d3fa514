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
      doc: "Cloud provider; empty means none, external one that runs outside this process.",
    }),
    option({
      flag: "cloud-config",
      type: file,
      default: "",
      readable: true,
      unavailable: noProvider,
      doc: "Configuration file of the cloud provider; empty means none.",
    }),
    option({
      flag: "cloud-provider-vendor-l7lb-src-cidrs",
      type: cidrs,
      default: ["130.211.0.0/22", "35.191.0.0/16"],
      idle: noProvider,
      doc: "CIDRs opened in the vendor's firewall for layer-7 load balancer traffic and health checks.",
    }),
    option({
      flag: "cloud-provider-vendor-lb-src-cidrs",
      type: cidrs,
      default: ["130.211.0.0/22", "209.85.152.0/22", "209.85.204.0/22", "35.191.0.0/16"],
      idle: noProvider,
      doc: "CIDRs opened in the vendor's firewall for layer-4 load balancer traffic and health checks.",
      deprecated: `This flag will be removed once the GCE Cloud Provider is removed from ${dialect.cli.apiServer}`,
    }),
    option({
      flag: "vendor-container-registry-config",
      type: file,
      default: "",
      readable: true,
      unavailable: noProvider,
      doc: "Configuration file of one vendor's container registry.",
    }),
    option({
      flag: "allow-metric-labels",
      type: metricLabels,
      default: {},
      doc: "Allowed values of a metric's label, as <metric>,<label>=<value>,<value>…; any other value is reported as unexpected. May be repeated.",
    }),
    option({
      flag: "disabled-metrics",
      type: strings,
      default: [],
      doc: "Fully qualified names of metrics to disable. Takes precedence over showing hidden metrics.",
    }),
    option({
      flag: "show-hidden-metrics-for-version",
      type: text,
      default: "",
      check: hiddenMetricsVersion(previousMinorVersion),
      doc: `Show the metrics that were hidden in the previous minor version; only ${previousMinorVersion} is accepted. No metrics are hidden at present.`,
    }),
    option({
      flag: "enable-logs-handler",
      type: bool,
      default: true,
      doc: "Serve the files of this machine's log directory under /logs, to users authorized for that path.",
    }),
    option(logDeclarations.flushFrequency),
    option({
      flag: "logging-format",
      type: oneOf("text"),
      default: "text",
      doc: "Log format; only text is supported.",
    }),
    option({ ...logDeclarations.splitStream, idle: textOnly, unlisted: true }),
    option({ ...logDeclarations.infoBufferSize, idle: textOnly, unlisted: true }),
    verbosityOption({}),
    option({ ...logDeclarations.modules, doc: "Log verbosity per source file, as <pattern>=<level>,…" }),
    option({
      flag: "config",
      type: file,
      default: "",
      doc: "Configuration file: any of these settings, with their names in camel case. Flags override the file. `orch config migrate -- orch-apiserver [flags]` writes one.",
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
      doc: "Time to continue serving after the termination signal. Meanwhile /readyz fails while /livez and /healthz succeed, so that load balancers remove this server.",
    }),
    option({
      flag: "shutdown-send-retry-after",
      type: bool,
      default: false,
      doc: "Keep listening until requests in flight have completed, and reject new ones with status 429 and the headers Retry-After and Connection: close.",
    }),
    option({
      flag: "shutdown-watch-termination-grace-period",
      type: duration,
      default: 0,
      check: notNegative,
      doc: "Maximum time to wait for active watches during shutdown, which are closed one after the other. With 0 they stay open until their clients close them, for at most --request-timeout; with --shutdown-send-retry-after they are closed within a second.",
    }),
    option({
      flag: "livez-grace-period",
      type: duration,
      default: 0,
      check: notNegative,
      doc: "Time after start during which unfinished start-up work does not fail /livez.",
    }),
  ]);
