// `orch status`: reports processes, sizes and problems of the cluster on this machine.
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { ApiError } from "#base";
import { type ApiClient, apiClient, connectionOf, https, kinds, readClientConfig, textOf } from "#client";
import type { Dialect } from "#dialect";
import { type OptionSet, type OptionsOf, dialectOption, helpOption, section } from "#options";
import type { Output } from "../output.ts";
import { clusterCommand } from "./cluster-command.ts";
import { type ClusterReport, type SeenNode, type SeenPod, reportText, warningsOf } from "./status-report.ts";
import { type ClusterPaths, dataDirOption, pathsFor } from "./paths.ts";
import { isAlive, readRunning } from "./running.ts";

const sections = (dialect: Dialect) =>
  [section("Cluster", [dataDirOption, dialectOption(dialect), helpOption])] as const;
type StatusOption = OptionsOf<ReturnType<typeof sections>>;
const statusOptions = (dialect: Dialect): OptionSet<StatusOption> => ({
  program: "orch status",
  summary: "Reports the state of this machine's cluster. Exits with 1 if it is not running or has problems.",
  dialect,
  sections: sections(dialect),
  checks: [],
});

export const statusCommand = (argv: readonly string[], output: Output): Promise<number> =>
  clusterCommand(statusOptions, argv, output, async ({ dialect, settings }) => {
    const paths = pathsFor(dialect, settings.dataDir);
    const running = readRunning(paths.running);
    if (!running || !isAlive(running)) {
      output.out(`no cluster is running in ${paths.root}\n`);
      return 1;
    }
    const report = await reportOf(paths, dialect, running.pid);
    output.out(reportText(report));
    return report.warnings.length > 0 ? 1 : 0;
  });

async function reportOf(paths: ClusterPaths, dialect: Dialect, pid: number): Promise<ClusterReport> {
  const local = {
    folder: paths.root,
    processes: [{ name: "orch", pid, kilobytes: memoryOf(pid) }, ...childrenOf(pid)],
    storeBytes: sizeOf(join(paths.root, "store")),
  };
  // A machine that joined has only the client config of its agent.
  const config = [paths.adminConfig, paths.agentConfig].find((file) => existsSync(file));
  if (config === undefined) throw new Error(`${paths.root} has no client config`);
  const transport = https(connectionOf(readClientConfig(config)));
  try {
    const client = apiClient(transport, dialect);
    const version = JSON.parse(await textOf(await transport.send({ method: "GET", path: "/version" }))) as {
      gitVersion?: string;
    };
    const [nodes, pods] = await Promise.all([nodesOf(client), podsOf(client)]);
    return { ...local, version: version.gitVersion ?? "", nodes, pods, warnings: warningsOf(nodes, pods) };
  } finally {
    transport.close();
  }
}

const nodesOf = async (client: ApiClient): Promise<readonly SeenNode[]> =>
  (await client.of(kinds.nodes).list()).items;

/** Lists pods; returns none if the caller is not allowed to. */
async function podsOf(client: ApiClient): Promise<readonly SeenPod[]> {
  try {
    return (await client.of(kinds.pods).list()).items;
  } catch (error) {
    if (error instanceof ApiError && error.reason === "Forbidden") return [];
    throw error;
  }
}

const programs = /\b(orch-[a-z-]+|nodeagent|containerd)(\.[jt]s)?$/;

/** Returns the known child processes of a process. */
function childrenOf(pid: number): ClusterReport["processes"] {
  const file = `/proc/${pid}/task/${pid}/children`;
  if (!existsSync(file)) return [];
  return readFileSync(file, "utf8")
    .trim()
    .split(" ")
    .flatMap((text) => {
      const child = Number(text);
      try {
        const words = readFileSync(`/proc/${child}/cmdline`, "utf8").split("\0");
        const name = words.flatMap((word) => programs.exec(word)?.[1] ?? [])[0];
        return name === undefined ? [] : [{ name, pid: child, kilobytes: memoryOf(child) }];
      } catch {
        return [];
      }
    });
}

/** Returns the proportional memory use of a process in kilobytes; 0 if it cannot be read. */
function memoryOf(pid: number): number {
  try {
    return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

function sizeOf(folder: string): number {
  if (!existsSync(folder)) return 0;
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { name }) => sum + (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0), 0);
}
