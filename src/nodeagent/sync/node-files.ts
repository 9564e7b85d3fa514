// Files of the node that pods are told of.
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { type DnsConfig, parseResolvConf } from "../plan/dns.ts";

export const nodeHostsText = (): Promise<string> => readFile("/etc/hosts", "utf8").catch(() => "");

/** What a resolver file says; nothing when it is not named or cannot be read. */
export function hostDns(path: string): DnsConfig {
  try {
    return path === ""
      ? { servers: [], searches: [], options: [] }
      : parseResolvConf(readFileSync(path, "utf8"));
  } catch {
    return { servers: [], searches: [], options: [] };
  }
}
