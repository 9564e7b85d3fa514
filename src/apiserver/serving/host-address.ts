// The host's address that is reachable by others: on an interface of a default route, selected as in
// kube-apiserver (ChooseHostInterface).
import { readFileSync } from "node:fs";
import { type NetworkInterfaceInfo, networkInterfaces } from "node:os";
import { ipScope, parseIp } from "#base";

type Family = "IPv4" | "IPv6";

export interface HostNetwork {
  /** Content of /proc/net/route and /proc/net/ipv6_route; empty if missing. */
  readonly routes4: string;
  readonly routes6: string;
  readonly interfaces: Readonly<
    Record<string, readonly Pick<NetworkInterfaceInfo, "address" | "family" | "internal">[] | undefined>
  >;
}

export function hostNetwork(): HostNetwork {
  const read = (file: string): string => {
    try {
      return readFileSync(file, "latin1");
    } catch {
      return "";
    }
  };
  return {
    routes4: read("/proc/net/route"),
    routes6: read("/proc/net/ipv6_route"),
    interfaces: networkInterfaces(),
  };
}

/** Returns undefined if no interface has a globally reachable address. */
export function hostAddress(prefer: Family, network: HostNetwork = hostNetwork()): string | undefined {
  const families: readonly Family[] = prefer === "IPv4" ? ["IPv4", "IPv6"] : ["IPv6", "IPv4"];
  const addressOf = (name: string, family: Family): string | undefined =>
    network.interfaces[name]?.find(
      (item) => item.family === family && !item.internal && isReachable(item.address),
    )?.address;
  const routed: Readonly<Record<Family, readonly string[]>> = {
    IPv4: defaultRoutes4(network.routes4),
    IPv6: defaultRoutes6(network.routes6),
  };
  for (const family of families)
    for (const name of routed[family]) {
      const found = addressOf(name, family);
      if (found !== undefined) return found;
    }
  for (const family of families)
    for (const name of Object.keys(network.interfaces)) {
      const found = addressOf(name, family);
      if (found !== undefined) return found;
    }
  return undefined;
}

function isReachable(text: string): boolean {
  const address = parseIp(text);
  return address !== undefined && ipScope(address) === "global";
}

const up = 0x1;
const toOneHost = 0x4;
const isUsableRoute = (flags: string): boolean => (Number.parseInt(flags, 16) & (up | toOneHost)) === up;

/** Returns the interfaces of default routes, in the order of the table. */
function defaultRoutes4(text: string): string[] {
  return rows(text).flatMap(([name = "", destination, , flags = "", , , , mask]) =>
    destination === "00000000" && mask === "00000000" && isUsableRoute(flags) ? [name] : [],
  );
}

function defaultRoutes6(text: string): string[] {
  return rows(text).flatMap(([destination, bits, , , , , , , flags = "", name = ""]) =>
    destination === "0".repeat(32) && bits === "00" && name !== "lo" && isUsableRoute(flags) ? [name] : [],
  );
}

const rows = (text: string): string[][] =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => line.trim().split(/\s+/));
