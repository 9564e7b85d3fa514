// Settings of the proxy and of the DNS server.
import type { Dialect } from "#dialect";
import { parseUpstream } from "#dns";
import {
  type OptionSet,
  type OptionsOf,
  type Section,
  type SettingsOf,
  above,
  atLeast,
  between,
  bool,
  cidrs,
  duration,
  file,
  int,
  int32,
  knownGates,
  oneOf,
  option,
  section,
  strings,
  text,
} from "#options";
import { proxyGates } from "#proxy";
import { isIP } from "node:net";
import { connection, features, other, serving, servingGates } from "./common-options.ts";
import { proxyOriginalFlags } from "./original-flags.ts";

const nodeName = option({
  flag: "hostname-override",
  type: text,
  default: "",
  defaultText: "the machine's host name",
  doc: "Name of the node.",
});

const proxySections = [
  section("Packet filter", [
    option({
      flag: "proxy-mode",
      type: oneOf("", "nftables", "iptables"),
      default: "",
      defaultText: "nftables, or iptables if nftables is not available",
      doc: "Packet filter to use.",
    }),
    option({
      flag: "masquerade-all",
      type: bool,
      default: false,
      doc: "Masquerade all traffic to cluster IPs, including that of pods.",
    }),
    option({
      flag: "masquerade-bit",
      aliases: ["iptables-masquerade-bit"],
      type: int32,
      default: 14,
      check: between(0, 31),
      doc: "Bit of the packet mark that requests masquerading.",
    }),
    option({
      flag: "cluster-cidr",
      type: cidrs,
      default: [],
      doc: "Pod CIDRs, one per IP family: traffic from other sources to cluster IPs is masqueraded.",
    }),
    option({
      flag: "nodeport-addresses",
      type: cidrs,
      default: [],
      defaultText: "all local addresses",
      doc: "CIDRs of local addresses that accept node ports.",
    }),
    option({
      flag: "localhost-nodeports",
      aliases: ["iptables-localhost-nodeports"],
      type: bool,
      default: true,
      doc: "Serve node ports on 127.0.0.1, too. This makes the kernel route loopback addresses; packets to them from outside are dropped.",
    }),
    option({
      flag: "min-sync-period",
      aliases: ["iptables-min-sync-period"],
      type: duration,
      default: 100,
      check: atLeast(0),
      doc: "Minimum interval between two writes.",
    }),
    option({
      flag: "sync-period",
      aliases: ["iptables-sync-period"],
      type: duration,
      default: 30_000,
      check: above(0),
      doc: "Interval of checks that the rules are still in place.",
    }),
    option({
      flag: "cleanup",
      type: bool,
      default: false,
      doc: "Remove all rules and routes of an earlier run and exit.",
    }),
    option({
      flag: "cleanup-on-exit",
      type: bool,
      default: false,
      doc: "Remove all rules and routes at exit. By default they are kept, so that connections survive a restart.",
    }),
  ]),
  section("Node", [
    nodeName,
    option({
      flag: "pod-routes",
      type: bool,
      default: false,
      doc: "Maintain routes to the pods of other nodes; requires that all nodes are on one network.",
    }),
  ]),
] as const;

const addressOrPort = (values: readonly string[]): string | undefined =>
  values.every((each) => parseUpstream(each))
    ? undefined
    : "must be addresses such as 192.0.2.1 or [fd00::1]:53";

/** Private networks only by default: an open resolver could be abused for amplification attacks. */
const privateRanges = [
  "127.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.168.0.0/16",
  "::1/128",
  "fc00::/7",
  "fe80::/10",
];

const dnsSections = [
  section("DNS server", [
    option({
      flag: "listen-address",
      type: strings,
      default: ["127.0.0.1"],
      check: (values) => (values.every((each) => isIP(each)) ? undefined : "must be IP addresses"),
      doc: "Addresses to listen on.",
    }),
    option({
      flag: "dns-port",
      type: int,
      default: 53,
      check: between(0, 65535),
      doc: "Port for UDP and TCP; 0 selects a free one.",
    }),
    option({ flag: "cluster-domain", type: text, default: "cluster.local", doc: "Domain of the cluster." }),
    option({
      flag: "ttl",
      type: duration,
      default: 5000,
      check: atLeast(0),
      doc: "How long clients may cache records of the cluster, including negative answers.",
    }),
    option({
      flag: "allow-from",
      type: cidrs,
      default: privateRanges,
      doc: "CIDRs of clients to answer; others are ignored.",
    }),
  ]),
  section("DNS forwarding", [
    option({
      flag: "upstream",
      type: strings,
      default: [],
      defaultText: "the name servers of --resolv-conf",
      check: addressOrPort,
      doc: "Name servers for names outside of the cluster.",
    }),
    option({
      flag: "resolv-conf",
      type: file,
      default: "/etc/resolv.conf",
      doc: "File with the name servers of this machine; reloaded when it changes.",
    }),
    option({
      flag: "upstream-timeout",
      type: duration,
      default: 2000,
      check: above(0),
      doc: "Timeout of a query to one upstream name server.",
    }),
    option({
      flag: "cache-bytes",
      type: int,
      default: 4 << 20,
      check: above(0),
      doc: "Maximum memory for cached upstream answers.",
    }),
  ]),
] as const;

/** Returns the sections of a program: those of its work and the common ones. */
const programSections = <const S extends readonly Section[]>(work: S, dialect: Dialect) =>
  [connection, ...work, serving, other(dialect)] as const;

type Shared = OptionsOf<ReturnType<typeof programSections<readonly []>>>;
type ProxyOption =
  | OptionsOf<typeof proxySections | readonly [ReturnType<typeof features>, typeof proxyOriginalFlags]>
  | Shared;
export type ProxyProgramSettings = SettingsOf<ProxyOption>;
type DnsOption = OptionsOf<typeof dnsSections> | Shared;
export type DnsProgramSettings = SettingsOf<DnsOption>;
export type NetworkProgramSettings = SettingsOf<ProxyOption | DnsOption>;

export const proxyOptions = (dialect: Dialect): OptionSet<ProxyOption> => ({
  program: "orch-proxy",
  summary: "Maintains the rules of services in this node's packet filter.",
  dialect,
  sections: programSections([...proxySections, features(dialect), proxyOriginalFlags], dialect),
  gates: knownGates,
  effectiveGates: () => [...proxyGates, ...servingGates],
  checks: [],
});

export const dnsOptions = (dialect: Dialect): OptionSet<DnsOption> => ({
  program: "orch-dns",
  summary: "Resolves the names of services and pods, and forwards other names.",
  dialect,
  sections: programSections(dnsSections, dialect),
  checks: [],
});

export const networkOptions = (dialect: Dialect): OptionSet<ProxyOption | DnsOption> => ({
  program: "orch-network",
  summary: "orch-proxy and orch-dns in one process, which needs half the memory.",
  dialect,
  sections: programSections(
    [...proxySections, ...dnsSections, features(dialect), proxyOriginalFlags],
    dialect,
  ),
  gates: knownGates,
  effectiveGates: () => [...proxyGates, ...servingGates],
  checks: [],
});
