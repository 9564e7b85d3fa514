// The container runtime: whether it is there, and how it gets there on Debian-like systems.
import { spawnSync } from "node:child_process";
import { existsSync, lstatSync } from "node:fs";

export type AgentChance = { readonly possible: true } | { readonly possible: false; readonly why: string; readonly remedy: string };

export interface Machine {
  readonly isRoot: boolean;
  readonly platform: string;
  /** Whether a path is a socket, or is kept from this user's eyes and may be one. */
  isSocket(path: string): boolean;
  exists(path: string): boolean;
}

export const thisMachine: Machine = {
  isRoot: process.getuid?.() === 0,
  platform: process.platform,
  isSocket: (path) => {
    try {
      return lstatSync(path, { throwIfNoEntry: false })?.isSocket() ?? false;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === "EACCES";
    }
  },
  exists: existsSync,
};

const containerd = "/usr/bin/containerd";

const socketOf = (endpoint: string): string => endpoint.replace(/^unix:\/\//, "");

/** Whether the node agent can run here; if not, one reason and what to do about it. */
export function agentChance(machine: Machine, endpoint: string, program: string): AgentChance {
  const no = (why: string, remedy: string): AgentChance => ({ possible: false, why, remedy });
  if (machine.platform !== "linux") return no("it runs on Linux only", "the API server works without it");
  if (!machine.exists(program)) return no("it is not built", "npm run build");
  const there = machine.isSocket(socketOf(endpoint));
  if (!machine.isRoot) return no(there ? "it needs root" : "it needs root and a container runtime", there ? "sudo orch up" : "sudo orch up --install-runtime");
  if (there) return { possible: true };
  const installed = machine.exists(containerd);
  return no(
    `there is no container runtime at ${endpoint}`,
    installed ? `${containerd} is installed: run it, or say with --runtime-endpoint where it is` : "orch up --install-runtime",
  );
}

/** Installs the runtime with apt and starts it; the text says what went wrong, or nothing. */
export function installRuntime(machine: Machine, tell: (line: string) => void): string | undefined {
  if (!machine.isRoot) return "installing a container runtime needs root: sudo orch up --install-runtime";
  if (!machine.exists("/usr/bin/apt-get")) return "there is no apt-get here; install containerd in your system's own way, then start again";
  const steps: readonly (readonly [string, ...string[]])[] = [
    ["apt-get", "update", "-q"],
    ["apt-get", "install", "-y", "-q", "--no-install-recommends", "containerd", "runc"],
  ];
  for (const [command, ...args] of steps) {
    tell(`running ${command} ${args.join(" ")}`);
    const { status } = spawnSync(command, args, { stdio: ["ignore", "ignore", "inherit"], env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" } });
    if (status !== 0) return `${command} ${args.join(" ")} failed with code ${status ?? "none"}`;
  }
  if (machine.exists("/run/systemd/system")) spawnSync("systemctl", ["enable", "--now", "containerd"], { stdio: "ignore" });
  return undefined;
}
