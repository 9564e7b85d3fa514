// The paths of an `orch up` cluster.
//
//   <data>/<dialect>/   store/  timeline/  pki/  logs/  agent/  runtime/  admin.conf  agent.conf
//                       network.conf  agent-settings.json  running.json  lock.db  holder
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { Dialect } from "#dialect";
import { directory, file, option } from "#options";
import { type OwnRuntime, ownRuntimeOf } from "./own-runtime.ts";

export interface ClusterPaths {
  readonly root: string;
  readonly pki: string;
  readonly logs: string;
  /** The administrator's client config. */
  readonly adminConfig: string;
  /** The node agent's client config. */
  readonly agentConfig: string;
  /** Client config of the proxy and the DNS server. */
  readonly networkConfig: string;
  /** Settings file of the node agent, and its root directory. */
  readonly agentSettings: string;
  readonly agentRoot: string;
  /** Local volumes of this machine. */
  readonly volumes: string;
  /** The control group of this cluster's pods, separate from those of other agents. */
  readonly cgroupRoot: string;
  /** The cluster's own container runtime, if it has one. */
  readonly runtime: OwnRuntime;
  readonly tokens: string;
  /** The record of the one-time link to the web page. */
  readonly uiLogin: string;
  /** Describes the running cluster, and marks the directory as created by orch. */
  readonly running: string;
  /** Everything that a cluster creates here. */
  readonly all: readonly string[];
}

/** The option of every command that operates on a cluster. */
export const dataDirOption = option({
  flag: "data-dir",
  type: directory,
  default: "",
  defaultText: "in the home directory",
  doc: "Directory of all data of the cluster.",
});

/** The option of commands that connect to the API server. */
export const clientConfigOption = option({
  flag: "orchconfig",
  type: file,
  default: "",
  defaultText: "the administrator's configuration of orch up",
  doc: "Client configuration file.",
});

/**
 * Returns the paths: `given` takes precedence over the user's data directory, where each dialect has a
 * separate cluster.
 */
export function pathsFor(
  dialect: Dialect,
  given: string,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): ClusterPaths {
  const { XDG_DATA_HOME: data } = environment;
  const root =
    given !== ""
      ? resolve(given)
      : join(
          data !== undefined && data.startsWith("/") ? join(data, "orch") : join(homedir(), ".orch"),
          dialect.name,
        );
  const names = [
    "store",
    "timeline",
    "pki",
    "logs",
    "agent",
    "runtime",
    "volumes",
    "admin.conf",
    "agent.conf",
    "network.conf",
    "agent-settings.json",
    "running.json",
    "lock.db",
    "holder",
  ];
  const runtime = ownRuntimeOf(root);
  return {
    root,
    all: names.map((name) => join(root, name)),
    pki: join(root, "pki"),
    logs: join(root, "logs"),
    adminConfig: join(root, "admin.conf"),
    agentConfig: join(root, "agent.conf"),
    networkConfig: join(root, "network.conf"),
    agentSettings: join(root, "agent-settings.json"),
    agentRoot: join(root, "agent"),
    volumes: join(root, "volumes"),
    cgroupRoot: `/orch-${runtime.id}`,
    runtime,
    tokens: join(root, "pki", "tokens.csv"),
    uiLogin: join(root, "pki", "ui-login.json"),
    running: join(root, "running.json"),
  };
}
