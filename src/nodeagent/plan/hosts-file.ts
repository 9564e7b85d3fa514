// Generates the /etc/hosts file of a pod.
import type { Pod } from "#api";
import { isHostNetwork } from "../pod.ts";
import { podHostname } from "./hostname.ts";

export interface HostsFileFacts {
  /** The product's name, for the first line. */
  readonly product: string;
  readonly clusterDomain: string;
  readonly podIps: readonly string[];
  /** The node's own file, for pods on the host network. */
  readonly nodeFile: string;
}

const fixed = [
  "127.0.0.1\tlocalhost",
  "::1\tlocalhost ip6-localhost ip6-loopback",
  "fe00::0\tip6-localnet",
  "fe00::0\tip6-mcastprefix",
  "fe00::1\tip6-allnodes",
  "fe00::2\tip6-allrouters",
];

export function hostsFile(pod: Pod, { product, clusterDomain, podIps, nodeFile }: HostsFileFacts): string {
  const aliases = aliasLines(pod);
  if (isHostNetwork(pod)) return `# ${product}-managed hosts file (host network).\n${nodeFile}${aliases}`;
  const { hostname, domain } = podHostname(pod, clusterDomain);
  const own = podIps.map((ip) =>
    domain ? `${ip}\t${hostname}.${domain}\t${hostname}` : `${ip}\t${hostname}`,
  );
  return `${[`# ${product}-managed hosts file.`, ...fixed, ...own].join("\n")}\n${aliases}`;
}

function aliasLines(pod: Pod): string {
  const aliases = pod.spec.hostAliases ?? [];
  if (aliases.length === 0) return "";
  return `\n# Entries added by HostAliases.\n${aliases.map(({ ip, hostnames }) => `${[ip, ...(hostnames ?? [])].join("\t")}\n`).join("")}`;
}
