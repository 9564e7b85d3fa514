// Systemd slices for the control groups of pods: with the systemd driver every group is a unit, so that
// systemd knows it and leaves it alone.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { promisify } from "node:util";

export interface SystemdSlices {
  /** Starts the slice of a group and its parents; idempotent. */
  start(group: string): Promise<void>;
  stop(group: string): Promise<void>;
}

type Run = (command: string, args: readonly string[]) => Promise<unknown>;

const timeLimitMilliseconds = 10_000;
const runProgram: Run = (command, args) =>
  promisify(execFile)(command, [...args], {
    timeout: timeLimitMilliseconds,
    env: { ...process.env, LC_ALL: "C" },
  });

/** Throws if systemd is not running, since nothing would manage the groups. */
export function systemdSlices(
  isSystemd: () => boolean = () => existsSync("/run/systemd/system"),
  run: Run = runProgram,
): SystemdSlices {
  if (!isSystemd())
    throw new Error(
      "cgroupDriver (--cgroup-driver) is systemd, but systemd does not run this machine: use cgroupfs",
    );
  const manager = [
    "org.freedesktop.systemd1",
    "/org/freedesktop/systemd1",
    "org.freedesktop.systemd1.Manager",
  ];
  const call = (method: string, ...args: readonly string[]): Promise<unknown> =>
    run("busctl", ["call", ...manager, method, ...args]);
  return {
    start: async (group) => {
      for (const unit of unitsOf(group)) {
        const properties = ["2", "DefaultDependencies", "b", "false", "TasksAccounting", "b", "true"];
        await call("StartTransientUnit", "ssa(sv)a(sa(sv))", unit, "replace", ...properties, "0").catch(
          ignoreExisting,
        );
      }
    },
    stop: async (group) => {
      const unit = unitsOf(group).at(-1);
      if (unit !== undefined) await call("StopUnit", "ss", unit, "replace").catch(ignoreMissing);
    },
  };
}

/** Converts `/a.slice/a-b.slice` to the units `a.slice` and `a-b.slice`. */
export const unitsOf = (group: string): string[] =>
  group.split("/").filter((part) => part.endsWith(".slice"));

const outputOf = (error: unknown): string => (error as { stderr?: string }).stderr ?? String(error);
const ignoreExisting = (error: unknown): void => {
  if (!/already (exists|loaded)|fragment file/.test(outputOf(error))) throw error;
};
const ignoreMissing = (error: unknown): void => {
  if (!/not loaded/.test(outputOf(error))) throw error;
};
