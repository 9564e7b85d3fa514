// Cleanup of a cluster's own runtime: a daemon that outlived its cluster, and leftovers when the cluster is
// removed.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync, rmSync, rmdirSync } from "node:fs";
import { basename, dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "#base";
import { type OwnRuntime, ownRuntimePlan } from "./own-runtime.ts";
import { removeForwarding } from "./pod-network.ts";
import { startOf, supervise } from "./supervisor.ts";
import { unmountBelow } from "./cleanup.ts";

const timeoutMilliseconds = 15_000;

/** Stops the daemon of a cluster that was killed; containers keep running. */
export async function stopLeftover({ config }: OwnRuntime): Promise<void> {
  for (const startedAt = Date.now(); ; await sleep(50)) {
    const pids = processesWith(config);
    if (pids.length === 0) return;
    for (const pid of pids) signal(pid, Date.now() - startedAt > timeoutMilliseconds ? "SIGKILL" : "SIGTERM");
  }
}

/** Runs the work while the daemon is up, since only the daemon can remove sandboxes. */
export async function withRuntime<T>(
  runtime: OwnRuntime,
  logFile: string,
  work: () => Promise<T>,
): Promise<T> {
  const part = supervise(ownRuntimePlan(runtime, logFile), systemClock, () => undefined);
  try {
    if ((await startOf(part, systemClock, timeoutMilliseconds)) !== "ready")
      throw new Error(`the cluster's own runtime does not start; see its log ${logFile}`);
    return await work();
  } finally {
    await part.stop();
  }
}

/**
 * Removes what the runtime created outside of the cluster's folder, and mounts that prevent the removal of
 * the folder.
 */
export function removeOwnRuntime(
  { folder, state, socket, network: { bridge } }: OwnRuntime,
  report: (line: string) => void,
): void {
  for (const pid of processesWith(socket)) signal(pid, "SIGKILL");
  for (const place of [folder, state]) unmountBelow(place, report);
  removeForwarding(bridge);
  if (existsSync(`/sys/class/net/${bridge}`)) {
    const { status } = spawnSync("ip", ["link", "delete", bridge], { stdio: "ignore" });
    if (status !== 0) report(`the network bridge ${bridge} was not removed; run: ip link delete ${bridge}`);
  }
  if (!existsSync(state)) return;
  rmSync(state, { recursive: true, force: true });
  if (readdirSync(dirname(state)).length === 0) rmdirSync(dirname(state));
}

/** Finds the daemon by its configuration file, and its shims by its socket. */
function processesWith(argument: string): number[] {
  if (!existsSync("/proc/self")) return [];
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => {
      const [program = "", ...args] = pid > 0 ? commandLine(pid) : [];
      return basename(program).startsWith("containerd") && args.includes(argument);
    });
}

function commandLine(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  } catch {
    return [];
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // The process has exited.
  }
}
