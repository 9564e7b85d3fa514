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

/**
 * Reports whether iptables works: it is required for traffic of pods to other machines and for host ports.
 */
const canFilterPackets = (): boolean =>
  spawnSync("iptables", ["-t", "nat", "-L", "-n"], { stdio: "ignore", env: { PATH: systemPath } }).status ===
  0;
