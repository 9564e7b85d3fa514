// The service rules as input of iptables-restore, for machines without nftables.
import { type Backend, type Family, type ServicePort, hashOf } from "./service-ports.ts";
import { type NftablesOptions, ofFamily } from "./nftables.ts";

export type IptablesOptions = Omit<NftablesOptions, "table"> & {
  /** Prefix of chain names. */
  readonly prefix: string;
};

/** Chains by table, each with its rules in order. */
export type IptablesRules = Readonly<Record<"nat" | "filter", ReadonlyMap<string, readonly string[]>>>;

/** Jumps from the built-in chains to our chains. */
export const iptablesJumps = (prefix: string) =>
  [
    ["nat", "PREROUTING", `${prefix}SERVICES`],
    ["nat", "OUTPUT", `${prefix}SERVICES`],
    ["nat", "POSTROUTING", `${prefix}POSTROUTING`],
    ["filter", "INPUT", `${prefix}FILTER`],
    ["filter", "FORWARD", `${prefix}FILTER`],
    ["filter", "OUTPUT", `${prefix}FILTER`],
  ] as const;

export function iptablesRules(
  family: Family,
  ports: readonly ServicePort[],
  options: IptablesOptions,
): IptablesRules {
  const { prefix } = options;
  const nat = new Map<string, string[]>();
  const filter = new Map<string, string[]>();
  const services: string[] = [];
  const nodePorts: string[] = [];
  const refused: string[] = [];
  const hairpin = new Set<string>();
  const bit = `0x${(2 ** options.masqueradeBit).toString(16)}`;
  const mark = `-j ${prefix}MARK`;
  const cidrs = ofFamily(options.clusterCidrs, family);
  const claimed = new Set<string>();

  for (const port of ports) {
    const { hash, protocol } = port;
    const short = hash.toUpperCase();
    const of = (address: string): string =>
      `-d ${address} -p ${protocol} -m ${protocol} --dport ${port.port}`;
    const spread = (kind: string, backends: readonly Backend[]): string | undefined => {
      if (backends.length === 0) return undefined;
      const name = `${prefix}${kind}-${short}`;
      const guard =
        port.clusterAddress === undefined
          ? []
          : options.masqueradeAll
            ? [`-d ${port.clusterAddress} ${mark}`]
            : cidrs.length === 1
              ? [`-d ${port.clusterAddress} ! -s ${cidrs[0]} ${mark}`]
              : [];
      nat.set(name, [...guard, ...spreadOver(port, backends, nat, prefix)]);
      return name;
    };
    const all = spread("SVC", port.backends);
    const local = port.internalLocal || port.externalLocal ? spread("SVL", port.localBackends) : undefined;
    const addJump = (rule: string, chain: string | undefined, list: string[]): void => {
      // Of two services that claim the same address and port, the first keeps it.
      if (chain === undefined || claimed.has(rule)) return;
      claimed.add(rule);
      list.push(`${rule} -j ${chain}`);
    };
    const addReject = (rule: string): void =>
      void refused.push(
        `-m conntrack --ctstate NEW ${rule} -j ${all === undefined ? `REJECT --reject-with ${family === 6 ? "icmp6" : "icmp"}-port-unreachable` : "DROP"}`,
      );
    if (port.clusterAddress !== undefined) {
      const internal = port.internalLocal ? local : all;
      if (internal === undefined) addReject(of(port.clusterAddress));
      addJump(of(port.clusterAddress), internal, services);
    }
    const externalAddresses = [...new Set([...port.externalAddresses, ...port.balancerAddresses])];
    if (externalAddresses.length > 0 || port.nodePort > 0) {
      const name = `${prefix}EXT-${short}`;
      const rules = !port.externalLocal
        ? all === undefined ? [] : [mark, `-j ${all}`]
        : [
            ...(all === undefined ? [] : [
              ...cidrs.map((range) => `-s ${range} -j ${all}`),
              `-m addrtype --src-type LOCAL ${mark}`,
              `-m addrtype --src-type LOCAL -j ${all}`,
            ]),
            ...(local === undefined ? [] : [`-j ${local}`]),
          ]; // prettier-ignore
      if (rules.length > 0) nat.set(name, rules);
      const chain = rules.length > 0 ? name : undefined;
      const atNode = `-p ${protocol} -m ${protocol} --dport ${port.nodePort}`;
      const isMissing = (port.externalLocal ? local : all) === undefined;
      for (const address of externalAddresses) {
        const guarded = port.balancerAddresses.includes(address) && port.sourceRanges !== undefined;
        if (guarded && chain !== undefined) {
          const firewall = `${prefix}FW-${short}`;
          nat.set(
            firewall,
            port.sourceRanges.map((range) => `-s ${range} -j ${name}`),
          );
          addJump(of(address), firewall, services);
          // Accepted traffic has been translated to another destination by now.
          refused.push(`-m conntrack --ctstate NEW ${of(address)} -j DROP`);
        } else addJump(of(address), chain, services);
        if (isMissing) addReject(of(address));
      }
      if (port.nodePort > 0) {
        addJump(atNode, chain, nodePorts);
        if (isMissing) addReject(`-m addrtype --dst-type LOCAL ${atNode}`);
      }
    }
    for (const { address, local: here } of [...port.backends, ...port.localBackends])
      if (here) hairpin.add(address);
  }
  const loopback =
    family === 4 && !options.localhostNodePorts ? ["! -d 127.0.0.0/8"] : family === 6 ? ["! -d ::1/128"] : [];
  const nodeRanges = ofFamily(options.nodePortCidrs, family);
  nat.set(`${prefix}SERVICES`, [
    ...services,
    ...(nodeRanges.length > 0 ? nodeRanges.map((range) => `-d ${range}`) : [loopback.join("")]).map((match) =>
      `${match} -m addrtype --dst-type LOCAL -j ${prefix}NODEPORTS`.trim(),
    ),
  ]);
  nat.set(`${prefix}NODEPORTS`, nodePorts);
  nat.set(`${prefix}MARK`, [`-j MARK --or-mark ${bit}`]);
  nat.set(`${prefix}POSTROUTING`, [
    ...[...hairpin].map(
      (address) => `-m conntrack --ctstate DNAT -s ${address} -d ${address} -j MASQUERADE --random-fully`,
    ),
    `-m mark ! --mark ${bit}/${bit} -j RETURN`,
    `-j MARK --xor-mark ${bit}`,
    "-j MASQUERADE --random-fully",
  ]);
  // The kernel routes loopback addresses for node ports; other packets must not benefit from that.
  const fromOutside =
    "-d 127.0.0.0/8 -m addrtype ! --src-type LOCAL -m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT -j DROP";
  const overLoopback = family === 4 && options.localhostNodePorts;
  filter.set(`${prefix}FILTER`, [...(overLoopback ? [fromOutside] : []), ...refused]);
  return { nat, filter };
}

/**
 * Returns rules that pick a backend at random with equal probability; with affinity, recent clients are
 * matched first.
 */
function spreadOver(
  port: ServicePort,
  backends: readonly Backend[],
  nat: Map<string, string[]>,
  prefix: string,
): string[] {
  const named = backends.map((backend) => {
    const to = `${port.family === 6 ? `[${backend.address}]` : backend.address}:${backend.port}`;
    const name = `${prefix}SEP-${hashOf(`${port.hash} ${to}`).toUpperCase()}`;
    const remember = port.affinitySeconds > 0 ? `-m recent --name ${name} --set ` : "";
    nat.set(name, [`${remember}-p ${port.protocol} -m ${port.protocol} -j DNAT --to-destination ${to}`]);
    return name;
  });
  return [
    ...(port.affinitySeconds > 0
      ? named.map(
          (name) => `-m recent --name ${name} --rcheck --seconds ${port.affinitySeconds} --reap -j ${name}`,
        )
      : []),
    ...named.map((name, index) =>
      index === named.length - 1
        ? `-j ${name}`
        : `-m statistic --mode random --probability ${(1 / (named.length - index)).toFixed(10)} -j ${name}`,
    ),
  ];
}

/** Returns the input of iptables-restore --noflush that rewrites our chains and removes obsolete ones. */
export function restoreInput(
  rules: IptablesRules,
  before: Readonly<Record<"nat" | "filter", ReadonlySet<string>>>,
): string {
  return (["nat", "filter"] as const)
    .map((table) => {
      const obsolete = [...before[table]].filter((name) => !rules[table].has(name));
      return tableInput(table, rules[table], obsolete);
    })
    .join("");
}

/**
 * Returns the input that changes one state into another, with changed chains only; empty if there are no
 * changes.
 */
export function restoreChanges(before: IptablesRules, after: IptablesRules): string {
  return (["nat", "filter"] as const)
    .map((table) => {
      const changed = new Map(
        [...after[table]].filter(([name, rules]) => !isSameList(before[table].get(name), rules)),
      );
      const obsolete = [...before[table].keys()].filter((name) => !after[table].has(name));
      return changed.size + obsolete.length === 0 ? "" : tableInput(table, changed, obsolete);
    })
    .join("");
}

const tableInput = (
  table: string,
  chains: ReadonlyMap<string, readonly string[]>,
  obsolete: readonly string[],
): string =>
  [
    `*${table}`,
    ...[...chains.keys(), ...obsolete].map((name) => `:${name} - [0:0]`),
    ...[...chains].flatMap(([name, list]) => list.map((rule) => `-A ${name} ${rule}`)),
    ...obsolete.map((name) => `-X ${name}`),
    "COMMIT",
    "",
  ].join("\n");

const isSameList = (a: readonly string[] | undefined, b: readonly string[]): boolean =>
  a !== undefined && a.length === b.length && a.every((each, at) => each === b[at]);
