// Files of the node that are passed on to pods.
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { fsErrorText } from "../errors.ts";
import { type DnsConfig, parseResolvConf } from "../plan/dns.ts";

export const nodeHostsText = (): Promise<string> => readFile("/etc/hosts", "utf8").catch(() => "");

/**
 * Parses the given resolver file; an empty path yields an empty config. Throws if the file cannot be read.
 */
export function hostDns(path: string): DnsConfig {
  if (path === "") return { servers: [], searches: [], options: [] };
  try {
    return parseResolvConf(readFileSync(path, "utf8"));
  } catch (error) {
    throw new Error(fsErrorText(error as Error), { cause: error });
  }
}
