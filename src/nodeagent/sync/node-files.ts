// Files of the node that are passed on to pods.
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { fsErrorText } from "../errors.ts";
import { type DnsConfig, type DnsLimits, parseResolvConf, resolverProblem } from "../plan/dns.ts";

export const nodeHostsText = (): Promise<string> => readFile("/etc/hosts", "utf8").catch(() => "");

/**
 * Parses the given resolver file; an empty path yields an empty config. Throws if the file cannot be read.
 */
export function hostDns(path: string): DnsConfig {
  if (path === "") return { servers: [], searches: [], options: [] };
  const text = readResolvConf(path);
  try {
    return parseResolvConf(text);
  } catch (error) {
    const why = `Encountered error while parsing resolv conf file. Error: ${(error as Error).message}`;
    throw new Error(why, { cause: error });
  }
}

/** Returns a problem of the resolver file that concerns all pods of the node; undefined if there is none. */
export function hostDnsProblem(path: string, clusterDomain: string, limits: DnsLimits): string | undefined {
  if (path === "") return undefined;
  try {
    return resolverProblem(path, parseResolvConf(readResolvConf(path)), clusterDomain, limits);
  } catch (error) {
    return (error as Error).message;
  }
}

function readResolvConf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new Error(fsErrorText(error as Error), { cause: error });
  }
}
