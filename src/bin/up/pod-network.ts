// The network of pods on a runtime of our own: a bridge on this machine with addresses that nobody here uses
// yet.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { writePrivate } from "#base";
import { systemPath } from "./system-path.ts";

export interface PodNetwork {
  readonly bridge: string;
  /** Where the search for free addresses begins, so that clusters do not choose the same. */
  readonly seed: number;
  readonly folder: string;
  readonly file: string;
}

/**
 * Writes the settings of the network plug-ins, once: pods leave a network by the same settings by which they
 * came.
 */
export function settleNetwork({ bridge, seed, folder, file }: PodNetwork, reachesOut = filtersPackets): void {
  if (existsSync(file)) return;
  const subnet = freeSubnet(seed, ownAddresses());
  const ipam = {
    type: "host-local",
    dataDir: join(folder, "addresses"),
    ranges: [[{ subnet }]],
    routes: [{ dst: "0.0.0.0/0" }],
  };
  const out = reachesOut();
  const plugins = [
    { type: "bridge", bridge, isGateway: true, ipMasq: out, hairpinMode: true, ipam },
    ...(out ? [{ type: "portmap", capabilities: { portMappings: true } }] : []),
  ];
  writePrivate(file, `${JSON.stringify({ cniVersion: "0.4.0", name: bridge, plugins }, undefined, 2)}\n`);
}

/** A block of 254 addresses in which this machine has none: one of the upper half of 10.0.0.0/8. */
export function freeSubnet(seed: number, taken: readonly string[]): string {
  const blocks = 128 * 256;
  for (let step = 0; step < blocks; step++) {
    const block = (seed + step) % blocks;
    const start = `10.${128 + Math.floor(block / 256)}.${block % 256}.`;
    if (!taken.some((address) => address.startsWith(start))) return `${start}0/24`;
  }
  throw new Error("no block of addresses is free for pods");
}

const ownAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((addresses) => (addresses ?? []).map(({ address }) => address));

/** Pods reach other machines, and host ports reach pods, by rules of the packet filter. */
const filtersPackets = (): boolean =>
  spawnSync("iptables", ["-t", "nat", "-L", "-n"], { stdio: "ignore", env: { PATH: systemPath } }).status ===
  0;
