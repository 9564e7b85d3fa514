// Reruns a benchmark in a separate network namespace, so that its network changes are isolated. Needs root.
import { spawnSync } from "node:child_process";
import { isGiven } from "./given.ts";

const mark = "inside";

export async function inOwnNetwork(script: string, measure: () => Promise<void>): Promise<void> {
  if (isGiven(mark)) return await measure();
  const again = [process.execPath, ...process.execArgv, script, `--${mark}`, ...process.argv.slice(2)];
  process.exitCode = spawnSync("unshare", ["--net", ...again], { stdio: "inherit" }).status ?? 1;
}

/** Commands such as `ip link set lo up`, one per line. */
export function ip(...lines: readonly string[]): void {
  for (const line of lines) spawnSync("ip", line.split(" "));
}
