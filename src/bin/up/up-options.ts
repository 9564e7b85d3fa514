// The settings of `orch up`.
import type { Dialect } from "#dialect";
import {
  type OptionSet,
  type OptionsOf,
  type SettingsOf,
  between,
  bool,
  dialectOption,
  helpOption,
  int,
  ip,
  option,
  releaseOption,
  section,
  text,
} from "#options";
import { clusterGatesOption } from "./cluster-gates.ts";
import { dataDirOption } from "./paths.ts";

/** Default endpoint of the machine's container runtime. */
export const defaultEndpoint = "unix:///run/containerd/containerd.sock";

const sections = (dialect: Dialect) =>
  [
    section("Cluster", [
      dataDirOption,
      option({
        flag: "port",
        type: int,
        default: 0,
        defaultText: "6443, or the next free one",
        check: between(0, 65535),
        doc: "Port of the API server. The first choice is kept for later starts.",
      }),
      option({
        flag: "bind-address",
        type: ip,
        default: "127.0.0.1",
        doc: "Address of the API server; 0.0.0.0 allows access from other machines.",
      }),
      clusterGatesOption(dialect),
      releaseOption(
        "Release whose API is served, as with --release of the API server; the controllers have its feature gates.",
      ),
      dialectOption(dialect),
    ]),
    section("Node agent", [
      option({
        flag: "agent",
        type: bool,
        default: true,
        doc: "Run the node agent, if permitted and a container runtime is available.",
      }),
      option({
        flag: "runtime-endpoint",
        type: text,
        default: defaultEndpoint,
        check: (value) =>
          value.startsWith("unix:///")
            ? undefined
            : "must be a unix socket such as unix:///run/containerd/containerd.sock",
        doc: "Socket of the container runtime.",
      }),
      option({
        flag: "install-runtime",
        type: bool,
        default: false,
        doc: "If no usable container runtime is available, install containerd and network plugins with apt and run a separate containerd for the cluster, now and at later starts. Requires root.",
      }),
    ]),
    section("Service network", [
      option({
        flag: "proxy",
        type: bool,
        default: true,
        doc: "Run the service proxy if a node agent runs; disable it if the cluster runs another proxy.",
      }),
      option({
        flag: "dns",
        type: bool,
        default: true,
        doc: "Run the DNS server if a node agent runs; disable it if the cluster runs another DNS server.",
      }),
    ]),
    section("Other", [helpOption]),
  ] as const;

type UpOption = OptionsOf<ReturnType<typeof sections>>;
export type UpSettings = SettingsOf<UpOption>;

export const upOptions = (dialect: Dialect): OptionSet<UpOption> => ({
  program: "orch up",
  summary: "Runs a whole cluster on this machine until Ctrl-C. Flags after -- are passed to the API server.",
  dialect,
  sections: sections(dialect),
  checks: [],
});
