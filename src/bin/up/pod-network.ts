// The pod network of a cluster's own runtime: a bridge with an address range that is not used on this
// machine.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { writePrivate } from "#base";
import { systemPath } from "./system-path.ts";

export interface PodNetwork {
  readonly bridge: string;
  /** Start of the search for a free range, so that clusters choose different ones. */
  readonly seed: number;
  readonly folder: string;
  readonly file: string;
}

/**
 * Writes the network plugin configuration once: pods must be removed with the configuration they were added
 * with.
 */
export function ensureNetworkConfig(
  { bridge, seed, folder, file }: PodNetwork,
  hasPacketFilter = canFilterPackets,
): void {
  if (existsSync(file)) return;
  const subnet = freeSubnet(seed, ownAddresses());
  const ipam = {
    type: "host-local",
    dataDir: join(folder, "addresses"),
    ranges: [[{ subnet }]],
    routes: [{ dst: "0.0.0.0/0" }],
  };
  const isMasqueraded = hasPacketFilter();
  const plugins = [
    { type: "bridge", bridge, isGateway: true, ipMasq: isMasqueraded, hairpinMode: true, ipam },
    ...(isMasqueraded ? [{ type: "portmap", capabilities: { portMappings: true } }] : []),
  ];
  writePrivate(file, `${JSON.stringify({ cniVersion: "0.4.0", name: bridge, plugins }, undefined, 2)}\n`);
}

/** Returns a /24 in the upper half of 10.0.0.0/8 in which this machine has no address. */
export function freeSubnet(seed: number, taken: readonly string[]): string {
  const blocks = 128 * 256;
  for (let step = 0; step < blocks; step++) {
    const block = (seed + step) % blocks;
    const start = `10.${128 + Math.floor(block / 256)}.${block % 256}.`;
    if (!taken.some((address) => address.startsWith(start))) return `${start}0/24`;
  }
  throw new Error("no address range is free for pods");
}

const ownAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((addresses) => (addresses ?? []).map(({ address }) => address));

/** Runs iptables; returns its exit code. */
type Iptables = (args: readonly string[]) => number | null;

const iptables: Iptables = (args) =>
  spawnSync("iptables", ["-w", ...args], { stdio: "ignore", env: { PATH: systemPath } }).status;

/**
 * Reports whether iptables works: it is required for traffic of pods to other machines and for host ports.
 */
const canFilterPackets = (): boolean => iptables(["-t", "nat", "-L", "-n"]) === 0;

const forwardRules = (bridge: string): string[][] => [
  ["FORWARD", "-i", bridge, "-j", "ACCEPT"],
  ["FORWARD", "-o", bridge, "-j", "ACCEPT"],
];

/**
 * Accepts packets from and to pods: Docker sets the policy of the chain to drop, even for packets between pods.
 * The rules are appended, so that other rules of the machine take precedence.
 */
export function acceptForwarding(bridge: string, run = iptables): void {
  for (const rule of forwardRules(bridge)) if (run(["-C", ...rule]) !== 0) run(["-A", ...rule]);
}

export function removeForwarding(bridge: string, run = iptables): void {
  for (const rule of forwardRules(bridge)) if (run(["-C", ...rule]) === 0) run(["-D", ...rule]);
}
