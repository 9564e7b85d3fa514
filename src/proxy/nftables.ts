// The service rules as an nftables table: verdict maps look up the chain of a service in one step, and each
// chain distributes connections over its backends with one rule.
//
//   prerouting, output ─▶ dispatch ─▶ @services ─▶ svc-… ─▶ dnat to one of the backends
//                                 └─▶ @node-ports ─▶ ext-… ─▶ mark for masquerading ─▶ svc-…
//   input, forward, output ─▶ @unavailable ─▶ reject or drop
import { type Backend, type Family, type ServicePort, hashOf } from "./service-ports.ts";
import type { Chain, NamedSet, Ruleset } from "./ruleset.ts";

export interface NftablesOptions {
  readonly table: string;
  /** Bit of the packet mark that requests masquerading. */
  readonly masqueradeBit: number;
  readonly masqueradeAll: boolean;
  /** Pod CIDRs; empty if unknown. */
  readonly clusterCidrs: readonly string[];
  /** CIDRs of local addresses that accept node ports; empty for all. */
  readonly nodePortCidrs: readonly string[];
  /** Whether node ports are also served on 127.0.0.1. */
  readonly localhostNodePorts: boolean;
}

interface FamilySyntax {
  readonly ip: "ip" | "ip6";
  readonly address: string;
  readonly loopback: string;
}
const syntax: Readonly<Record<Family, FamilySyntax>> = {
  4: { ip: "ip", address: "ipv4_addr", loopback: "127.0.0.0/8" },
  6: { ip: "ip6", address: "ipv6_addr", loopback: "::1" },
};

/** The chains, sets and elements of one service port. */
interface Fragment {
  readonly chains: readonly (readonly [name: string, chain: Chain])[];
  readonly sets: readonly (readonly [name: string, set: NamedSet])[];
  readonly elements: readonly (readonly [set: string, key: string, value: string])[];
}

export interface NftablesBuilder {
  /** Builds the ruleset; fragments of unchanged ports are cached. */
  build(family: Family, ports: readonly ServicePort[]): Ruleset;
}

export function nftablesBuilder(options: NftablesOptions): NftablesBuilder {
  const fragments = new WeakMap<ServicePort, Fragment>();
  const base = { 4: baseChains(4, options), 6: baseChains(6, options) };
  return {
    build: (family, ports) => {
      const { ip } = syntax[family];
      const sets = new Map(
        baseSets(family).map(([name, set]) => [name, { ...set, elements: new Map<string, string>() }]),
      );
      const chains = new Map(base[family]);
      const more = new Map<string, NamedSet>();
      for (const port of ports) {
        let fragment = fragments.get(port);
        if (!fragment) fragments.set(port, (fragment = fragmentOf(port, options)));
        for (const [name, chain] of fragment.chains) chains.set(name, chain);
        for (const [name, set] of fragment.sets) more.set(name, set);
        // Of two services that claim the same address and port, the first keeps it.
        for (const [set, key, value] of fragment.elements) {
          const { elements } = sets.get(set)!;
          if (!elements.has(key)) elements.set(key, value);
        }
      }
      return { family: ip, table: options.table, sets: new Map([...sets, ...more]), chains };
    },
  };
}

const noElements: ReadonlyMap<string, string> = new Map();

function baseSets(family: Family): readonly (readonly [string, NamedSet])[] {
  const { address } = syntax[family];
  const socket = `type ${address} . inet_proto . inet_service : verdict;`;
  const portOnly = "type inet_proto . inet_service : verdict;";
  const declared = (kind: NamedSet["kind"], body: string): NamedSet => ({ kind, body, elements: noElements });
  return [
    ["services", declared("map", socket)],
    ["node-ports", declared("map", portOnly)],
    ["unavailable", declared("map", socket)],
    ["unavailable-node-ports", declared("map", portOnly)],
    ["firewall", declared("map", socket)],
    ["cluster-addresses", declared("set", `type ${address};`)],
    ["hairpin", declared("set", `type ${address} . ${address};`)],
  ];
}

function baseChains(family: Family, options: NftablesOptions): readonly (readonly [string, Chain])[] {
  const { ip, loopback } = syntax[family];
  const bit = `0x${(2 ** options.masqueradeBit).toString(16).padStart(8, "0")}`;
  const others = `0x${(0xffffffff - 2 ** options.masqueradeBit).toString(16)}`;
  const socket = `${ip} daddr . meta l4proto . th dport`;
  const cidrs = ofFamily(options.nodePortCidrs, family);
  const overLoopback = family === 4 && options.localhostNodePorts;
  const toNode = [
    ...(cidrs.length > 0 ? [`${ip} daddr ${listOf(cidrs)}`] : []),
    ...(overLoopback ? [] : [`${ip} daddr != ${loopback}`]),
    "fib daddr type local",
  ].join(" ");
  const portOnly = "meta l4proto . th dport";
  const hook = (type: string, name: string, priority: number): string =>
    `type ${type} hook ${name} priority ${priority}`;
  const unavailable = `ct state new ${socket} vmap @unavailable`;
  const unavailablePort = `ct state new ${toNode} ${portOnly} vmap @unavailable-node-ports`;
  const firewall = `ct state new ${socket} vmap @firewall`;
  // Cluster IPs are not assigned to any host: reject ports without a service here.
  const withoutService = `ct state new ${ip} daddr @cluster-addresses goto refuse`;
  return [
    ["refuse", { rules: ["reject"] }],
    ["mark-masquerade", { rules: [`meta mark set meta mark | ${bit}`] }],
    ["dispatch", { rules: [`${socket} vmap @services`, `${toNode} ${portOnly} vmap @node-ports`] }],
    ["prerouting", { hook: hook("nat", "prerouting", -100), rules: ["jump dispatch"] }],
    ["output", { hook: hook("nat", "output", -100), rules: ["jump dispatch"] }],
    [
      "postrouting",
      {
        hook: hook("nat", "postrouting", 100),
        rules: [
          // A pod that reaches itself through a service must see a different source address.
          `ct status dnat ${ip} saddr . ${ip} daddr @hairpin masquerade fully-random`,
          `meta mark & ${bit} == 0 return`,
          `meta mark set meta mark & ${others} masquerade fully-random`,
        ],
      },
    ],
    ["firewall-prerouting", { hook: hook("filter", "prerouting", -110), rules: [firewall] }],
    ["firewall-output", { hook: hook("filter", "output", -110), rules: [firewall] }],
    [
      "filter-input",
      {
        hook: hook("filter", "input", 0),
        rules: [
          ...(overLoopback
            ? [
                // The kernel routes loopback addresses for node ports; other packets must not benefit from
                // that.
                `iifname != "lo" ${ip} daddr ${loopback} ct state new ct status & dnat == 0 drop`,
              ]
            : []),
          unavailable,
          unavailablePort,
        ],
      },
    ],
    ["filter-forward", { hook: hook("filter", "forward", 0), rules: [unavailable, withoutService] }],
    [
      "filter-output",
      { hook: hook("filter", "output", 0), rules: [unavailable, unavailablePort, withoutService] },
    ],
  ];
}

function fragmentOf(port: ServicePort, options: NftablesOptions): Fragment {
  const { hash, family, protocol } = port;
  const { ip } = syntax[family];
  const chains: (readonly [string, Chain])[] = [];
  const sets: (readonly [string, NamedSet])[] = [];
  const elements: (readonly [string, string, string])[] = [];
  const cidrs = ofFamily(options.clusterCidrs, family);
  const key = (address: string): string => `${address} . ${protocol} . ${port.port}`;
  const masqueradeRules =
    port.clusterAddress === undefined
      ? []
      : options.masqueradeAll
        ? [`${ip} daddr ${port.clusterAddress} jump mark-masquerade`]
        : cidrs.length > 0
          ? [`${ip} daddr ${port.clusterAddress} ${ip} saddr != ${listOf(cidrs)} jump mark-masquerade`]
          : [];

  const spread = (name: string, backends: readonly Backend[]): string | undefined => {
    if (backends.length === 0) return undefined;
    const { rules, more } = spreadOver(port, backends);
    chains.push([name, { rules: [...masqueradeRules, ...rules] }]);
    for (const each of more.chains) chains.push(each);
    for (const each of more.sets) sets.push(each);
    return name;
  };
  const all = spread(`svc-${hash}`, port.backends);
  const needsLocal = port.internalLocal || port.externalLocal;
  const local = needsLocal ? spread(`local-${hash}`, port.localBackends) : undefined;
  const internal = port.internalLocal ? local : all;
  const unavailableVerdict = (hasBackends: boolean): string => (hasBackends ? "drop" : "goto refuse");

  if (port.clusterAddress !== undefined) {
    elements.push(["cluster-addresses", port.clusterAddress, ""]);
    elements.push(
      internal === undefined
        ? ["unavailable", key(port.clusterAddress), unavailableVerdict(all !== undefined)]
        : ["services", key(port.clusterAddress), `goto ${internal}`],
    );
  }
  const externalAddresses = [...new Set([...port.externalAddresses, ...port.balancerAddresses])];
  if (externalAddresses.length > 0 || port.nodePort > 0) {
    const external = `ext-${hash}`;
    const rules = externalRules(port, { ip, cidrs, all, local });
    if (rules.length > 0) {
      chains.push([external, { rules }]);
      for (const address of externalAddresses) elements.push(["services", key(address), `goto ${external}`]);
      if (port.nodePort > 0)
        elements.push(["node-ports", `${protocol} . ${port.nodePort}`, `goto ${external}`]);
    }
    if ((port.externalLocal ? local : all) === undefined) {
      const verdict = unavailableVerdict(all !== undefined);
      for (const address of externalAddresses) elements.push(["unavailable", key(address), verdict]);
      if (port.nodePort > 0)
        elements.push(["unavailable-node-ports", `${protocol} . ${port.nodePort}`, verdict]);
    }
  }
  if (port.sourceRanges !== undefined && port.balancerAddresses.length > 0) {
    const name = `fw-${hash}`;
    // One rule for each range, since overlapping ranges cannot form a set.
    const rules = [...port.sourceRanges.map((range) => `${ip} saddr ${range} return`), "drop"];
    chains.push([name, { rules }]);
    for (const address of port.balancerAddresses) elements.push(["firewall", key(address), `goto ${name}`]);
  }
  for (const { address, local: here } of [...port.backends, ...port.localBackends])
    if (here) elements.push(["hairpin", `${address} . ${address}`, ""]);
  return { chains, sets, elements };
}

/** Returns the rules for traffic to external addresses and node ports. */
function externalRules(
  port: ServicePort,
  {
    ip,
    cidrs,
    all,
    local,
  }: {
    readonly ip: string;
    readonly cidrs: readonly string[];
    readonly all: string | undefined;
    readonly local: string | undefined;
  },
): string[] {
  if (!port.externalLocal) return all === undefined ? [] : ["jump mark-masquerade", `goto ${all}`];
  return [
    // Traffic from inside the cluster may use all backends.
    ...(all !== undefined && cidrs.length > 0 ? [`${ip} saddr ${listOf(cidrs)} goto ${all}`] : []),
    ...(all !== undefined
      ? ["fib saddr type local jump mark-masquerade", `fib saddr type local goto ${all}`]
      : []),
    ...(local !== undefined ? [`goto ${local}`] : []),
  ];
}

interface Spread {
  readonly rules: readonly string[];
  readonly more: Pick<Fragment, "chains" | "sets">;
}

/**
 * Returns the rule that picks a backend at random; with affinity, a set per backend remembers its clients.
 */
function spreadOver(port: ServicePort, backends: readonly Backend[]): Spread {
  const { protocol, family, affinitySeconds } = port;
  const { ip, address: type } = syntax[family];
  const to = ({ address, port: target }: Backend): string =>
    family === 6 ? `[${address}]:${target}` : `${address}:${target}`;
  const none = { chains: [], sets: [] };
  if (affinitySeconds === 0) {
    if (backends.length === 1)
      return { rules: [`meta l4proto ${protocol} dnat to ${to(backends[0]!)}`], more: none };
    const list = backends.map(({ address, port: target }, index) => `${index} : ${address} . ${target}`);
    return {
      rules: [
        `meta l4proto ${protocol} dnat to numgen random mod ${backends.length} map { ${list.join(", ")} }`,
      ],
      more: none,
    };
  }
  // A set keeps its timeout, so another timeout needs another set.
  const named = backends.map((backend) => ({
    backend,
    id: hashOf(`${port.hash} ${to(backend)} ${affinitySeconds}`),
  }));
  return {
    rules: [
      ...named.map(({ id }) => `${ip} saddr @clients-${id} goto ep-${id}`),
      `numgen random mod ${backends.length} vmap { ${named.map(({ id }, index) => `${index} : goto ep-${id}`).join(", ")} }`,
    ],
    more: {
      chains: named.map(({ backend, id }) => [
        `ep-${id}`,
        {
          rules: [`update @clients-${id} { ${ip} saddr }`, `meta l4proto ${protocol} dnat to ${to(backend)}`],
        },
      ]),
      sets: named.map(({ id }) => [
        `clients-${id}`,
        {
          kind: "set",
          body: `type ${type}; size 65536; flags dynamic,timeout; timeout ${affinitySeconds}s;`,
          elements: noElements,
        },
      ]),
    },
  };
}

const listOf = (ranges: readonly string[]): string => `{ ${ranges.join(", ")} }`;

export const ofFamily = (ranges: readonly string[], family: Family): string[] =>
  ranges.filter((each) => each.includes(":") === (family === 6));
