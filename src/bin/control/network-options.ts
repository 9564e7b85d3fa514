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
  doc: "Name of the node that this runs on.",
});

const proxySections = [
  section("Packet filter", [
    option({
      flag: "proxy-mode",
      type: oneOf("", "nftables", "iptables"),
      default: "",
      defaultText: "nftables, or iptables where that is all there is",
      doc: "Which packet filter holds the rules.",
    }),
    option({
      flag: "masquerade-all",
      type: bool,
      default: false,
      doc: "Masquerade all traffic to cluster addresses, also that of pods.",
    }),
    option({
      flag: "masquerade-bit",
      aliases: ["iptables-masquerade-bit"],
      type: int32,
      default: 14,
      check: between(0, 31),
      doc: "Bit of the packet mark that asks for masquerading.",
    }),
    option({
      flag: "cluster-cidr",
      type: cidrs,
      default: [],
      doc: "Addresses of pods, one range for each family: traffic from elsewhere to cluster addresses is masqueraded.",
    }),
    option({
      flag: "nodeport-addresses",
      type: cidrs,
      default: [],
      defaultText: "all local ones",
      doc: "Ranges of the local addresses that take node ports.",
    }),
    option({
      flag: "localhost-nodeports",
      aliases: ["iptables-localhost-nodeports"],
      type: bool,
      default: true,
      doc: "Let node ports answer on 127.0.0.1, too. The kernel then routes loopback addresses; packets to them from outside are dropped.",
    }),
    option({
      flag: "min-sync-period",
      aliases: ["iptables-min-sync-period"],
      type: duration,
      default: 100,
      check: atLeast(0),
      doc: "At least so long between two writes.",
    }),
    option({
      flag: "sync-period",
      aliases: ["iptables-sync-period"],
      type: duration,
      default: 30_000,
      check: above(0),
      doc: "How often it is checked that nobody removed the rules.",
    }),
    option({
      flag: "cleanup",
      type: bool,
      default: false,
      doc: "Remove all rules and routes of an earlier run, and exit.",
    }),
    option({
      flag: "cleanup-on-exit",
      type: bool,
      default: false,
      doc: "Remove them at the end; otherwise connections outlive a restart.",
    }),
  ]),
  section("Node", [
    nodeName,
    option({
      flag: "pod-routes",
      type: bool,
      default: false,
      doc: "Keep routes to the pods of other nodes by their addresses, where all nodes are on one network.",
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
  section("Names", [
    option({
      flag: "listen-address",
      type: strings,
      default: ["127.0.0.1"],
      check: (values) => (values.every((each) => isIP(each)) ? undefined : "must be IP addresses"),
      doc: "Addresses to answer on.",
    }),
    option({
      flag: "dns-port",
      type: int,
      default: 53,
      check: between(0, 65535),
      doc: "Port for UDP and TCP; 0 takes a free one.",
    }),
    option({ flag: "cluster-domain", type: text, default: "cluster.local", doc: "Domain of the cluster." }),
    option({
      flag: "ttl",
      type: duration,
      default: 5000,
      check: atLeast(0),
      doc: "How long clients may keep answers about the cluster, those about missing names too.",
    }),
    option({
      flag: "allow-from",
      type: cidrs,
      default: privateRanges,
      doc: "Clients that are answered; others are ignored.",
    }),
  ]),
  section("Other names", [
    option({
      flag: "upstream",
      type: strings,
      default: [],
      defaultText: "those of --resolv-conf",
      check: addressOrPort,
      doc: "Name servers to ask about names outside of the cluster.",
    }),
    option({
      flag: "resolv-conf",
      type: file,
      default: "/etc/resolv.conf",
      doc: "File with the name servers of this machine; read again when it changes.",
    }),
    option({
      flag: "upstream-timeout",
      type: duration,
      default: 2000,
      check: above(0),
      doc: "How long one of them may take.",
    }),
    option({
      flag: "cache-bytes",
      type: int,
      default: 4 << 20,
      check: above(0),
      doc: "The most memory for their answers.",
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
  summary: "Keeps the addresses and ports of services in this node's packet filter.",
  dialect,
  sections: programSections([...proxySections, features(dialect), proxyOriginalFlags], dialect),
  gates: knownGates,
  actingGates: () => [...proxyGates, ...servingGates],
  checks: [],
});

export const dnsOptions = (dialect: Dialect): OptionSet<DnsOption> => ({
  program: "orch-dns",
  summary: "Answers the names of services and pods, and asks others about the rest.",
  dialect,
  sections: programSections(dnsSections, dialect),
  checks: [],
});

export const networkOptions = (dialect: Dialect): OptionSet<ProxyOption | DnsOption> => ({
  program: "orch-network",
  summary: "orch-proxy and orch-dns in one process, which takes half of the memory.",
  dialect,
  sections: programSections(
    [...proxySections, ...dnsSections, features(dialect), proxyOriginalFlags],
    dialect,
  ),
  gates: knownGates,
  actingGates: () => [...proxyGates, ...servingGates],
  checks: [],
});
