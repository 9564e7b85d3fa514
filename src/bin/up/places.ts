// Where a cluster of `orch up` keeps its things.
//
//   <data>/<dialect>/   store/  pki/  logs/  admin.conf  running.json
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { Dialect } from "#dialect";

export interface Places {
  readonly root: string;
  readonly pki: string;
  readonly logs: string;
  /** The administrator's client config. */
  readonly adminConfig: string;
  /** The node agent's. */
  readonly agentConfig: string;
  /** Settings of the node agent, and where it keeps pods' files. */
  readonly agentSettings: string;
  readonly agentRoot: string;
  readonly tokens: string;
  /** Tells that a cluster runs, and marks the directory as ours. */
  readonly running: string;
  /** Everything a cluster makes here. */
  readonly all: readonly string[];
}

/** `given` wins; otherwise the user's data directory. Each dialect has a cluster of its own there. */
export function placesFor(dialect: Dialect, given: string, environment: Readonly<Record<string, string | undefined>> = process.env): Places {
  const { XDG_DATA_HOME: data } = environment;
  const root = given !== "" ? resolve(given) : join(data !== undefined && data.startsWith("/") ? join(data, "orch") : join(homedir(), ".orch"), dialect.name);
  const own = ["store", "pki", "logs", "agent", "admin.conf", "agent.conf", "agent-settings.json", "running.json"];
  return {
    root,
    all: own.map((name) => join(root, name)),
    pki: join(root, "pki"),
    logs: join(root, "logs"),
    adminConfig: join(root, "admin.conf"),
    agentConfig: join(root, "agent.conf"),
    agentSettings: join(root, "agent-settings.json"),
    agentRoot: join(root, "agent"),
    tokens: join(root, "pki", "tokens.csv"),
    running: join(root, "running.json"),
  };
}
