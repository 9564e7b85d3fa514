// Addresses that proxies may reach: not those of this machine, its link, or multicast. The checked address is
// the one that is dialed.
import { lookup } from "node:dns/promises";
import { badRequest, embeddedIpv4, formatIp, ipScope, parseIp, serviceUnavailable } from "#base";

export type Resolve = (hostname: string) => Promise<readonly string[]>;

const systemResolve: Resolve = async (hostname) =>
  (await lookup(hostname, { all: true })).map(({ address }) => address);

/** Returns the canonical form of an address that may be dialed; refuses any other. */
export function proxyableAddress(text: string): string {
  const address = parseIp(text);
  const inside = address && embeddedIpv4(address);
  if (!address || ipScope(address) !== "global" || (inside && ipScope(inside) !== "global"))
    throw badRequest("address not allowed");
  return formatIp(address);
}

/** Returns the address to dial for a host; refuses if any of its addresses must not be reached. */
export async function proxyableHost(host: string, resolve: Resolve = systemResolve): Promise<string> {
  if (parseIp(host)) return proxyableAddress(host);
  const addresses = await resolve(host).catch(() => []);
  if (addresses.length === 0) throw serviceUnavailable(`no addresses for hostname ${host}`);
  return addresses.map(proxyableAddress)[0]!;
}
