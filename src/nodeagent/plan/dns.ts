// Computes a pod's resolv.conf from its DNS policy, its dnsConfig, the cluster settings and the node's file.
import type { Pod } from "#api";
import { isHostNetwork, longNameOf, namespaceOf } from "../pod.ts";

export interface DnsConfig {
  readonly servers: readonly string[];
  readonly searches: readonly string[];
  readonly options: readonly string[];
}

export interface DnsSettings {
  readonly clusterServers: readonly string[];
  readonly clusterDomain: string;
  /** The agent's name, for warnings. */
  readonly agent: string;
  /** The node's own resolv.conf. */
  readonly host: DnsConfig;
  /** Servers on the pod's own loopback, which disable name lookups: set if no resolv.conf is configured. */
  readonly localServers?: readonly string[] | undefined;
  readonly limits?: DnsLimits | undefined;
}

/** Limits of the search list: the number of domains, and the length of the line. */
export interface DnsLimits {
  readonly searches: number;
  readonly searchLine: number;
}

export interface DnsResult {
  readonly config: DnsConfig;
  /** Warnings for the user. */
  readonly warnings: readonly DnsWarning[];
}

export interface DnsWarning {
  readonly reason: string;
  readonly message: string;
  /** Message of an additional event on the node, where the node's configuration is incomplete. */
  readonly nodeMessage?: string;
}

const maxServers = 3;
/** Some resolvers abort on longer domains. */
const maxDomain = 253;
const expandedLimits: DnsLimits = { searches: 32, searchLine: 2048 };
const legacyLimits: DnsLimits = { searches: 6, searchLine: 256 };

/** Returns the limits with or without ExpandedDNSConfig. */
export const dnsLimits = (isExpanded: boolean): DnsLimits => (isExpanded ? expandedLimits : legacyLimits);

export function podDns(pod: Pod, settings: DnsSettings): DnsResult {
  const warnings: DnsWarning[] = [];
  const policy = policyOf(pod);
  let config: DnsConfig;
  if (policy === "none") config = { servers: [], searches: [], options: [] };
  else if (policy === "cluster" && settings.clusterServers.length > 0) config = clusterConfig(pod, settings);
  else {
    if (policy === "cluster") {
      // The kubelet names this policy for ClusterFirstWithHostNet, too.
      const nodeMessage = `${settings.agent} does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" policy. Falling back to "Default" policy.`;
      const message = `pod: ${JSON.stringify(longNameOf(pod))}. ${nodeMessage}`;
      warnings.push({ reason: "MissingClusterDNS", message, nodeMessage });
    }
    config = settings.localServers
      ? { servers: settings.localServers, searches: ["."], options: [] }
      : settings.host;
  }
  const { limits = expandedLimits } = settings;
  return { config: withinLimits(withOwn(config, pod.spec.dnsConfig), limits, warnings), warnings };
}

function policyOf(pod: Pod): "cluster" | "host" | "none" {
  switch (pod.spec.dnsPolicy) {
    case "None":
      return "none";
    case "Default":
      return "host";
    case "ClusterFirstWithHostNet":
      return "cluster";
    default:
      return isHostNetwork(pod) ? "host" : "cluster";
  }
}

function clusterConfig(pod: Pod, { clusterServers, clusterDomain, host }: DnsSettings): DnsConfig {
  const own = clusterDomain
    ? [`${namespaceOf(pod)}.svc.${clusterDomain}`, `svc.${clusterDomain}`, clusterDomain]
    : [];
  return { servers: clusterServers, searches: unique([...own, ...host.searches]), options: ["ndots:5"] };
}

/** Adds the pod's dnsConfig; its options override those of the policy. */
function withOwn(config: DnsConfig, own: Pod["spec"]["dnsConfig"]): DnsConfig {
  if (!own) return config;
  const options = new Map(config.options.map((option) => [option.split(":")[0]!, option]));
  for (const { name = "", value } of own.options ?? []) options.set(name, value ? `${name}:${value}` : name);
  return {
    servers: unique([...config.servers, ...(own.nameservers ?? [])]),
    searches: unique([...config.searches, ...(own.searches ?? [])]),
    options: [...options.values()],
  };
}

function withinLimits(config: DnsConfig, limits: DnsLimits, warnings: DnsWarning[]): DnsConfig {
  const servers = config.servers.slice(0, maxServers);
  if (servers.length < config.servers.length) {
    const message = `Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: ${servers.join(" ")}`;
    warnings.push({ reason: "DNSConfigForming", message });
  }
  const searches = config.searches.slice(0, limits.searches).filter(({ length }) => length <= maxDomain);
  while (searches.join(" ").length > limits.searchLine) searches.pop();
  if (searches.length < config.searches.length) {
    const message = `Search Line limits were exceeded, some search paths have been omitted, the applied search line is: ${searches.join(" ")}`;
    warnings.push({ reason: "DNSConfigForming", message });
  }
  return { servers, searches, options: config.options };
}

/** Returns why pods will not get the whole search list of the node's file; undefined if they will. */
export function resolverProblem(
  path: string,
  { searches }: DnsConfig,
  clusterDomain: string,
  limits: DnsLimits,
): string | undefined {
  const most = limits.searches - (clusterDomain === "" ? 0 : 3);
  if (searches.length > most)
    return `Resolv.conf file '${path}' contains search line consisting of more than ${most} domains!`;
  if (searches.some(({ length }) => length > maxDomain))
    return `Resolv.conf file ${JSON.stringify(path)} contains a search path which length is more than allowed ${maxDomain} chars!`;
  return searches.join(" ").length > limits.searchLine
    ? `Resolv.conf file '${path}' contains search line which length is more than allowed ${limits.searchLine} chars!`
    : undefined;
}

/** Parses a resolv.conf file. Throws if a name server has no address. */
export function parseResolvConf(text: string): DnsConfig {
  const servers: string[] = [];
  let searches: string[] = [];
  let options: string[] = [];
  for (const line of text.split("\n")) {
    const [word, ...rest] = line.trim().split(/\s+/);
    if (word === "nameserver") {
      if (rest[0] === undefined) throw new Error("nameserver list is empty ");
      servers.push(rest[0]);
    }
    // The root domain is searched anyway, and some resolvers fail on a lone dot.
    else if (word === "search")
      searches = rest
        .map((domain) => (domain === "." ? "." : domain.replace(/\.$/, "")))
        .filter((domain) => domain !== ".");
    else if (word === "options")
      options = [...new Map([...options, ...rest].map((option) => [option.split(":")[0]!, option])).values()];
  }
  return { servers, searches, options };
}

const unique = (items: readonly string[]): string[] => [...new Set(items)];
