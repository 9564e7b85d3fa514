// Checks for a container runtime, and installs one on Debian-like systems.
import { spawnSync } from "node:child_process";
import { existsSync, lstatSync } from "node:fs";
import { hostname } from "node:os";
import { dns1123SubdomainProblems } from "#schema";
import { runtimePackages } from "./own-runtime.ts";

export type Preflight =
  | { readonly possible: true }
  | { readonly possible: false; readonly reason: string; readonly remedy: string };

export interface Machine {
  readonly isRoot: boolean;
  readonly platform: string;
  readonly hostName: string;
  /** Reports whether a path is a socket, or is inaccessible to this user and might be one. */
  isSocket(path: string): boolean;
  exists(path: string): boolean;
}

export const thisMachine: Machine = {
  isRoot: process.getuid?.() === 0,
  platform: process.platform,
  hostName: hostname(),
  isSocket: (path) => {
    try {
      return lstatSync(path, { throwIfNoEntry: false })?.isSocket() ?? false;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === "EACCES";
    }
  },
  exists: existsSync,
};

export const canNameNode = (name: string): boolean => dns1123SubdomainProblems(name).length === 0;

const socketOf = (endpoint: string): string => endpoint.replace(/^unix:\/\//, "");

/** Reports whether the node agent can run here; if not, the reason and a remedy. */
export function preflight(machine: Machine, endpoint: string, program: string): Preflight {
  const impossible = (why: string, remedy: string): Preflight => ({ possible: false, reason: why, remedy });
  if (machine.platform !== "linux")
    return impossible("it runs on Linux only", "the API server works without it");
  if (!machine.exists(program)) return impossible("it is not built", "npm run build");
  const hasRuntime = machine.isSocket(socketOf(endpoint));
  if (!machine.isRoot)
    return impossible(
      hasRuntime ? "it requires root" : "it requires root and a container runtime",
      hasRuntime ? "sudo orch up" : "sudo orch up --install-runtime",
    );
  if (!canNameNode(machine.hostName.toLowerCase()))
    return impossible(
      `the host name ${machine.hostName} is not valid as the name of a node`,
      "hostnamectl set-hostname changes it; names consist of letters, digits, '-' and '.'",
    );
  if (hasRuntime) return { possible: true };
  return impossible(
    `there is no container runtime at ${endpoint}`,
    "orch up --install-runtime installs one; use --runtime-endpoint for an existing one",
  );
}

/**
 * Installs the packages required by the cluster's own runtime with apt; returns an error text, or undefined.
 */
export function installRuntime(machine: Machine, report: (line: string) => void, run = runCommand): string | undefined {
  if (!machine.isRoot) return "installing a container runtime requires root: sudo orch up --install-runtime";
  const missing = Object.entries(runtimePackages).flatMap(([name, paths]) => (paths.some((place) => machine.exists(place)) ? [] : [name]));
  if (missing.length === 0) return undefined;
  if (!machine.exists("/usr/bin/apt-get")) return `apt-get is not available; install ${missing.join(", ")} with your package manager, then start again`;
  for (const command of [["apt-get", "update", "-q"], ["apt-get", "install", "-y", "-q", "--no-install-recommends", ...missing]]) {
    report(`running ${command.join(" ")}`);
    const code = run(command);
    if (code !== 0) return `${command.join(" ")} failed with code ${code ?? "none"}`;
  }
  return undefined;
} // prettier-ignore

function runCommand([command, ...args]: readonly string[]): number | null {
  return spawnSync(command!, args, {
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
  }).status;
}
