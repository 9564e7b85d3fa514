// `orch down`: stops a running cluster; with --purge, removes its data.
import { existsSync, readdirSync, rmdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Dialect, dialects } from "#dialect";
import { type OptionSet, type OptionsOf, bool, dialectOption, helpOption, option, section } from "#options";
import type { Output } from "../output.ts";
import { stopLeftover, removeOwnRuntime, withRuntime } from "./own-runtime-end.ts";
import { type ClusterPaths, dataDirOption, pathsFor } from "./paths.ts";
import { clusterCommand } from "./cluster-command.ts";
import { localAddressOf, removeLocalAddress } from "./local-address.ts";
import { thisMachine } from "./preflight.ts";
import { isAlive, readRunning } from "./running.ts";
import { type CleanupOptions, cleanUpNode, hasMounts } from "./cleanup.ts";

const sections = (dialect: Dialect) =>
  [
    section("Cluster", [
      dataDirOption,
      option({
        flag: "purge",
        type: bool,
        default: false,
        doc: "Remove all data of the cluster: objects, credentials, logs, and the containers, mounts and control groups of its pods.",
      }),
      dialectOption(dialect),
      helpOption,
    ]),
  ] as const;

type DownOption = OptionsOf<ReturnType<typeof sections>>;
const downOptions = (dialect: Dialect): OptionSet<DownOption> => ({
  program: "orch down",
  summary: "Stops a cluster started by orch up.",
  dialect,
  sections: sections(dialect),
  checks: [],
});

const timeoutMilliseconds = 40_000;

export const downCommand = (argv: readonly string[], output: Output): Promise<number> =>
  clusterCommand(downOptions, argv, output, async ({ dialect, settings }) => {
    const paths = pathsFor(dialect, settings.dataDir);
    if (!(await end(paths, output))) return 1;
    await stopLeftover(paths.runtime);
    await removeLeftNetwork(paths);
    return settings.purge ? await purge(paths, output) : 0;
  });

async function end(paths: ClusterPaths, { out, err }: Output): Promise<boolean> {
  const running = readRunning(paths.running);
  if (!running || !isAlive(running)) {
    out(`no cluster is running in ${paths.root}\n`);
    return true;
  }
  try {
    process.kill(running.pid, "SIGTERM");
  } catch (error) {
    err(`error: process ${running.pid} cannot be signalled: ${(error as Error).message}\n`);
    return false;
  }
  for (const until = Date.now() + timeoutMilliseconds; Date.now() < until; await sleep(50)) {
    if (isAlive(running)) continue;
    out("the cluster is down\n");
    return true;
  }
  err(`error: process ${running.pid} has not exited within ${timeoutMilliseconds / 1000} s\n`);
  return false;
}

/** Removes the address and the service rules of a cluster that was killed. */
async function removeLeftNetwork(paths: ClusterPaths): Promise<void> {
  const ran = readRunning(paths.running);
  if (!ran?.runtimeEndpoint || !thisMachine.isRoot) return;
  removeLocalAddress(localAddressOf(paths.runtime.id));
  const { removeLeftRules } = await import("../control/proxy-work.ts");
  await removeLeftRules(dialects[ran.dialect]);
}

/** Removes only what the cluster created; the directory itself is removed only if it is empty afterwards. */
async function purge(paths: ClusterPaths, { out, err }: Output): Promise<number> {
  if (!existsSync(paths.root)) return 0;
  const ran = readRunning(paths.running);
  if (!ran) {
    err(`error: ${paths.root} was not created by orch up; nothing was removed\n`);
    return 1;
  }
  const report = (line: string): void => err(`${line}\n`);
  const ownRuntime = ran.runtimeEndpoint === paths.runtime.endpoint;
  const cleanup: CleanupOptions = {
    dialect: dialects[ran.dialect],
    agentRoot: paths.agentRoot,
    cgroupRoot: paths.cgroupRoot,
    runtimeEndpoint: ran.runtimeEndpoint,
    ownRuntime,
    report,
  };
  try {
    if (ownRuntime)
      await withRuntime(paths.runtime, join(paths.logs, "runtime.log"), () => cleanUpNode(cleanup));
    else await cleanUpNode(cleanup);
    removeOwnRuntime(paths.runtime, report);
    if (hasMounts(paths.root)) throw new Error(`there are mounts below ${paths.root}`);
  } catch (error) {
    err(
      `error: containers or mounts may remain, and no files were removed: ${(error as Error).message}; start the runtime and try again, or remove ${paths.root} by hand\n`,
    );
    return 1;
  }
  // The errors of rmSync are unreadable.
  for (const path of paths.all) await rm(path, { recursive: true, force: true });
  if (readdirSync(paths.root).length === 0) rmdirSync(paths.root);
  out(`all data of the cluster in ${paths.root} was removed\n`);
  return 0;
}
