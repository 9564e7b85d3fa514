// Name servers of the machine's resolv.conf, which is read again when it changes.
import { readFileSync, statSync } from "node:fs";
import { isIP } from "node:net";
import type { Clock } from "#base";
import type { Upstream } from "./forwarder.ts";

const checkEveryMilliseconds = 5000;
const maxServers = 8;
const defaultPort = 53;

/** Returns the name servers of a resolv.conf, in order. */
export const serversIn = (text: string): Upstream[] =>
  text
    .split("\n")
    .flatMap((line) => /^\s*nameserver\s+(\S+)/.exec(line)?.[1] ?? [])
    .flatMap((given) => (isIP(given.split("%")[0]!) ? [{ address: given, port: defaultPort }] : []))
    .slice(0, maxServers);

/** Parses `[address]:port`, `address:port` or `address`; returns undefined for anything else. */
export function parseUpstream(given: string): Upstream | undefined {
  if (isIP(given)) return { address: given, port: defaultPort };
  const found = /^(?:\[([^\]]+)\]|([^:]+)):([0-9]{1,5})$/.exec(given);
  const address = found?.[1] ?? found?.[2] ?? "";
  const port = Number(found?.[3]);
  return isIP(address) && port > 0 && port < 65_536 ? { address, port } : undefined;
}

/** Returns a function that lists the file's name servers, without this server itself, to avoid a loop. */
export function fileUpstreams(
  file: string,
  clock: Clock,
  isSelf: (upstream: Upstream) => boolean,
): () => readonly Upstream[] {
  let servers: readonly Upstream[] = [];
  let [lastChecked, lastModified] = [-Infinity, -1];
  return () => {
    const now = clock.monotonic();
    if (now - lastChecked < checkEveryMilliseconds) return servers;
    lastChecked = now;
    try {
      const { mtimeMs } = statSync(file);
      if (mtimeMs === lastModified) return servers;
      servers = serversIn(readFileSync(file, "utf8")).filter((each) => !isSelf(each));
      lastModified = mtimeMs;
    } catch {
      // The file is missing or being replaced: keep the previous servers.
    }
    return servers;
  };
}
