// Where a cluster of `orch up` keeps its things.
//
//   <data>/<dialect>/   store/  timeline/  pki/  logs/  agent/  runtime/  admin.conf  agent.conf  network.conf  agent-settings.json  running.json  lock.db  holder
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
  /** The node agent's. */
  readonly agentConfig: string;
  /** That of the service proxy and the name server. */
  readonly networkConfig: string;
  /** Settings of the node agent, and where it keeps pods' files. */
  readonly agentSettings: string;
  readonly agentRoot: string;
  /** Volumes of this machine's own disk. */
  readonly volumes: string;
  /** The control group of this cluster's pods: agents of other clusters do not look there. */
  readonly cgroupRoot: string;
  /** The container runtime, where the cluster has one of its own. */
  readonly runtime: OwnRuntime;
  readonly tokens: string;
  /** The note of a one-time link to the page. */
  readonly uiLogin: string;
  /** Tells that a cluster runs, and marks the directory as ours. */
  readonly running: string;
  /** Everything a cluster makes here. */
  readonly all: readonly string[];
}

/** Every command that means a cluster takes it. */
export const dataDirOption = option({
  flag: "data-dir",
  type: directory,
  default: "",
  defaultText: "below the home directory",
  doc: "Directory of everything the cluster keeps.",
});

/** Of commands that ask the API server. */
export const clientConfigOption = option({
  flag: "orchconfig",
  type: file,
  default: "",
  defaultText: "that of the administrator of orch up",
  doc: "Client configuration file.",
});

/** `given` wins; otherwise the user's data directory. Each dialect has a cluster of its own there. */
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
  const own = [
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
    all: own.map((name) => join(root, name)),
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
