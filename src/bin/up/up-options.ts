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
  section,
  text,
} from "#options";
import { clusterGatesOption } from "./cluster-gates.ts";
import { dataDirOption } from "./paths.ts";

/** Default endpoint of the machine's container runtime. */
export const usualEndpoint = "unix:///run/containerd/containerd.sock";

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
        doc: "Port of the API server. The one taken first is kept.",
      }),
      option({
        flag: "bind-address",
        type: ip,
        default: "127.0.0.1",
        doc: "Address of the API server; 0.0.0.0 lets other machines in.",
      }),
      clusterGatesOption(dialect),
      dialectOption(dialect),
    ]),
    section("Node agent", [
      option({
        flag: "agent",
        type: bool,
        default: true,
        doc: "Run the node agent too, where this user may and a container runtime is there.",
      }),
      option({
        flag: "runtime-endpoint",
        type: text,
        default: usualEndpoint,
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
        doc: "Unless a container runtime is there that can run pods: install containerd and network plug-ins with apt, and run a containerd of the cluster's own, now and at later starts. Needs root.",
      }),
    ]),
    section("Service network", [
      option({
        flag: "proxy",
        type: bool,
        default: true,
        doc: "Keep the addresses of services in this machine's packet filter, where a node agent runs; a cluster with a proxy of its own switches it off.",
      }),
      option({
        flag: "dns",
        type: bool,
        default: true,
        doc: "Answer the names of services to pods, where a node agent runs; a cluster with a name server of its own switches it off.",
      }),
    ]),
    section("Other", [helpOption]),
  ] as const;

type UpOption = OptionsOf<ReturnType<typeof sections>>;
export type UpSettings = SettingsOf<UpOption>;

export const upOptions = (dialect: Dialect): OptionSet<UpOption> => ({
  program: "orch up",
  summary: "Runs a whole cluster on this machine until Ctrl-C. Flags after -- go to the API server.",
  dialect,
  sections: sections(dialect),
  checks: [],
});
