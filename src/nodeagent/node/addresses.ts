// Determines the node's addresses: the configured ones, those its host name resolves to, or those of the
// interface of the default route.
import { lookup } from "node:dns/promises";
import { readFile } from "node:fs/promises";
import { isIP, isIPv4 } from "node:net";
import { type NetworkInterfaceInfo, networkInterfaces } from "node:os";

export interface AddressSources {
  /** At most two configured addresses; 0.0.0.0 and :: only select the preferred IP family. */
  readonly given: readonly string[];
  readonly hostname: string;
  readonly lookUp?: (name: string) => Promise<readonly string[]>;
  readonly interfaces?: () => Readonly<
    Record<string, readonly Pick<NetworkInterfaceInfo, "address" | "internal">[] | undefined>
  >;
  /** Returns the interface of the default route. */
  readonly defaultInterface?: () => Promise<string | undefined>;
}

const unspecified = new Set(["0.0.0.0", "::"]);

/** Returns at most one address per IP family, the preferred one first. Rejects if no address is found. */
export async function nodeAddresses(sources: AddressSources): Promise<readonly string[]> {
  const {
    given,
    hostname,
    lookUp = addressesOfName,
    interfaces = networkInterfaces,
    defaultInterface = interfaceOfDefaultRoute,
  } = sources;
  const specified = given.filter((address) => !unspecified.has(address));
  if (specified.length > 0) return specified;
  if (isIP(hostname)) return [hostname];
  const prefersIpv4 = given[0] === undefined || isIPv4(given[0]);
  const best = (addresses: readonly string[]): string | undefined =>
    addresses.find((address) => isIPv4(address) === prefersIpv4) ?? addresses[0];
  const own = Object.values(interfaces()).flatMap((all) =>
    (all ?? [])
      .filter(({ internal, address }) => !internal && isUsable(address))
      .map(({ address }) => address),
  );
  const named = best((await lookUp(hostname).catch(() => [])).filter((address) => own.includes(address)));
  if (named !== undefined) return [named];
  const defaultRouteInterface = await defaultInterface();
  const defaultRouteAddresses =
    defaultRouteInterface === undefined
      ? []
      : (interfaces()[defaultRouteInterface] ?? []).map(({ address }) => address).filter(isUsable);
  const found = best(defaultRouteAddresses) ?? best(own);
  if (found === undefined)
    throw new Error(
      `can't get ip address of node ${hostname}: no interface has one; specify it with --node-ip`,
    );
  return [found];
}

/** Reports whether an address is neither loopback nor link-local nor multicast. */
const isUsable = (address: string): boolean =>
  !/^(127\.|169\.254\.|fe80:|::1$|ff|22[4-9]\.|23\d\.)/i.test(address);

const addressesOfName = async (name: string): Promise<string[]> =>
  (await lookup(name, { all: true })).map(({ address }) => address);

async function interfaceOfDefaultRoute(): Promise<string | undefined> {
  const ipv4 = (await readFile("/proc/net/route", "utf8").catch(() => ""))
    .split("\n")
    .map((line) => line.split("\t"));
  const found = ipv4.find(
    (fields) => fields[1] === "00000000" && (Number.parseInt(fields[3] ?? "0", 16) & 2) !== 0,
  );
  if (found) return found[0];
  const ipv6 = (await readFile("/proc/net/ipv6_route", "utf8").catch(() => ""))
    .split("\n")
    .map((line) => line.trim().split(/\s+/));
  return ipv6.find((fields) => fields[0] === "0".repeat(32) && fields[1] === "00" && fields[9] !== "lo")?.[9];
}
