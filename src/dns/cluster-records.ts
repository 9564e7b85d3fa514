// DNS records of a cluster (DNS specification 1.1.0): services, their ports, endpoints of headless services,
// pods by address, and reverse lookups.
import { isIP } from "node:net";
import { parseIp } from "#base";
import { type ResourceRecord, recordTypes } from "./wire.ts";

export interface NamedPort {
  readonly name: string;
  /** Protocol in lower case, as used in names. */
  readonly protocol: string;
  readonly port: number;
}

export interface NamedEndpoint {
  readonly address: string;
  /** Its hostname, or its address with dashes. */
  readonly hostname: string;
  readonly ports: readonly NamedPort[];
}

export type NamedService =
  | { readonly is: "alias"; readonly target: string }
  | { readonly is: "address"; readonly addresses: readonly string[]; readonly ports: readonly NamedPort[] }
  | { readonly is: "headless"; readonly endpoints: readonly NamedEndpoint[] };

/** Lookup of services and their endpoints. */
export interface ServiceDirectory {
  service(namespace: string, name: string): NamedService | undefined;
  /** Reports whether the namespace has any service. */
  hasNamespace(namespace: string): boolean;
  /** Returns the names below `svc` that an address belongs to. */
  namesOf(address: string): readonly string[];
}

export type Lookup =
  | {
      readonly is: "found";
      readonly records: readonly ResourceRecord[];
      readonly additional?: readonly ResourceRecord[];
    }
  /** The name exists, but has no records of this type. */
  | { readonly is: "no data" }
  | { readonly is: "no such name" }
  | { readonly is: "alias"; readonly record: ResourceRecord; readonly target: string }
  /** The name is not in this zone. */
  | { readonly is: "elsewhere" };

export interface ZoneOptions {
  /** The cluster domain, such as `cluster.local`. */
  readonly domain: string;
  readonly ttl: number;
  /** Changes with every start. */
  readonly serial: number;
  /** Addresses of this server. */
  readonly addresses: readonly string[];
}

export interface Zone {
  lookup(name: string, type: number): Lookup;
  /** SOA record added to every negative answer. */
  readonly authority: ResourceRecord;
}

const maxLabelLength = 63;

const noData: Lookup = { is: "no data" };
const noSuchName: Lookup = { is: "no such name" };

export function clusterZone(
  { domain, ttl, serial, addresses }: ZoneOptions,
  directory: ServiceDirectory,
): Zone {
  const server = `ns.dns.${domain}`;
  const authority: ResourceRecord = {
    type: "SOA",
    name: domain,
    ttl,
    primary: server,
    contact: `hostmaster.${domain}`,
    serial,
  };
  const found = (records: readonly ResourceRecord[], additional?: readonly ResourceRecord[]): Lookup =>
    records.length === 0 ? noData : { is: "found", records, ...(additional && { additional }) };
  const addressRecords = (name: string, all: readonly string[], type: number): ResourceRecord[] =>
    all.flatMap((address) => {
      const of = isIP(address) === 6 ? "AAAA" : "A";
      return recordTypes[of] === type || type === recordTypes.ANY
        ? [{ type: of, name, ttl, address } as const]
        : [];
    });

  function lookup(name: string, type: number): Lookup {
    if (name.endsWith(".arpa")) return lookupAddress(name, type);
    if (name === domain) return apex(type);
    if (!name.endsWith(`.${domain}`)) return { is: "elsewhere" };
    const labels = name.slice(0, -domain.length - 1).split(".");
    switch (labels.pop()) {
      case "svc":
        return belowServices(name, labels, type);
      case "pod":
        return belowPods(name, labels, type);
      case "dns":
        if (labels.length === 0) return noData;
        return name === server ? found(addressRecords(name, addresses, type)) : noSuchName;
      case "dns-version":
        if (labels.length > 0) return noSuchName;
        return found(type === recordTypes.TXT ? [{ type: "TXT", name, ttl, text: "1.1.0" }] : []);
      default:
        return noSuchName;
    }
  }

  function apex(type: number): Lookup {
    if (type === recordTypes.SOA) return found([authority]);
    if (type === recordTypes.NS) return found([{ type: "NS", name: domain, ttl, target: server }]);
    return noData;
  }

  /** Resolves `[hostname | _port._protocol].service.namespace`. */
  function belowServices(name: string, labels: readonly string[], type: number): Lookup {
    const [namespace, service, ...before] = labels.toReversed();
    if (namespace === undefined) return noData;
    if (service === undefined) return directory.hasNamespace(namespace) ? noData : noSuchName;
    if (before.length > 2) return noSuchName;
    const entry = directory.service(namespace, service);
    if (!entry) return noSuchName;
    if (entry.is === "alias") return before.length > 0 ? noSuchName : alias(name, entry.target, type);
    const serviceDomain = `${service}.${namespace}.svc.${domain}`;
    if (before.length === 1 && !before[0]!.startsWith("_"))
      return entry.is === "headless"
        ? endpointsNamed(
            name,
            serviceDomain,
            entry.endpoints.filter(({ hostname }) => hostname === before[0]),
            type,
          )
        : noSuchName;
    const [protocol, port] = before.map((label) => (label.startsWith("_") ? label.slice(1) : undefined));
    if (before.length > 0 && (protocol === undefined || (before.length === 2 && port === undefined)))
      return noSuchName;
    const wanted = (each: NamedPort): boolean =>
      (protocol === undefined || each.protocol === protocol) && (port === undefined || each.name === port);
    if (entry.is === "headless")
      return headless(name, serviceDomain, entry.endpoints, wanted, type, before.length);
    const ports = entry.ports.filter(wanted);
    if (before.length > 0 && ports.length === 0) return noSuchName;
    if (before.length === 1) return noData;
    if (type === recordTypes.SRV)
      return found(
        ports.map((each) => serverRecord(name, serviceDomain, each.port, ports.length)),
        addressRecords(serviceDomain, entry.addresses, recordTypes.ANY),
      );
    return found(addressRecords(name, entry.addresses, type));
  }

  function headless(
    name: string,
    serviceDomain: string,
    endpoints: readonly NamedEndpoint[],
    wanted: (port: NamedPort) => boolean,
    type: number,
    depth: number,
  ): Lookup {
    const matching = depth === 0 ? endpoints : endpoints.filter(({ ports }) => ports.some(wanted));
    if (matching.length === 0) return noSuchName;
    if (depth === 1) return noData;
    if (type !== recordTypes.SRV)
      return found(addressRecords(name, [...new Set(matching.map(({ address }) => address))], type));
    return serverRecords(name, serviceDomain, matching, wanted);
  }

  function endpointsNamed(
    name: string,
    serviceDomain: string,
    endpoints: readonly NamedEndpoint[],
    type: number,
  ): Lookup {
    if (endpoints.length === 0) return noSuchName;
    return type === recordTypes.SRV
      ? serverRecords(name, serviceDomain, endpoints, () => true)
      : found(addressRecords(name, [...new Set(endpoints.map(({ address }) => address))], type));
  }

  /** Returns one SRV record per endpoint and port, with the endpoints' addresses as additional records. */
  function serverRecords(
    name: string,
    serviceDomain: string,
    endpoints: readonly NamedEndpoint[],
    wanted: (port: NamedPort) => boolean,
  ): Lookup {
    const pairs = new Map<string, readonly [target: string, port: number]>();
    for (const { hostname, ports } of endpoints)
      for (const { port } of ports.filter(wanted))
        pairs.set(`${hostname}:${port}`, [`${hostname}.${serviceDomain}`, port]);
    return found(
      [...pairs.values()].map(([target, port]) => serverRecord(name, target, port, pairs.size)),
      endpoints.flatMap(({ hostname, address }) =>
        addressRecords(`${hostname}.${serviceDomain}`, [address], recordTypes.ANY),
      ),
    );
  }

  const serverRecord = (name: string, target: string, port: number, of: number): ResourceRecord => ({
    type: "SRV",
    name,
    ttl,
    weight: Math.max(1, Math.floor(100 / of)),
    port,
    target,
  });

  function alias(name: string, target: string, type: number): Lookup {
    if (isIP(target)) return found(addressRecords(name, [target], type));
    // Services accept longer labels, which no message can hold.
    if (target.split(".").some((label) => label.length > maxLabelLength)) return noData;
    const record: ResourceRecord = { type: "CNAME", name, ttl, target };
    return type === recordTypes.CNAME ? found([record]) : { is: "alias", record, target };
  }

  /** Resolves `1-2-3-4.namespace` from the name alone. */
  function belowPods(name: string, labels: readonly string[], type: number): Lookup {
    if (labels.length < 2) return noData;
    const dashed = labels[0]!;
    if (labels.length > 2) return noSuchName;
    const address = [dashed.replaceAll("-", "."), dashed.replaceAll("-", ":")].find((each) => isIP(each));
    return address === undefined ? noSuchName : found(addressRecords(name, [address], type));
  }

  /** Resolves a reverse lookup; unknown addresses are left to upstream servers. */
  function lookupAddress(name: string, type: number): Lookup {
    const address = addressOf(name);
    const names = address === undefined ? [] : directory.namesOf(address);
    if (names.length === 0) return { is: "elsewhere" };
    return found(
      type === recordTypes.PTR || type === recordTypes.ANY
        ? names.map((each) => ({ type: "PTR", name, ttl, target: `${each}.svc.${domain}` }) as const)
        : [],
    );
  }

  return { lookup, authority };
}

/** Returns the address in a name below `in-addr.arpa` or `ip6.arpa`. */
export function addressOf(name: string): string | undefined {
  const labels = name.split(".").slice(0, -2).toReversed();
  if (name.endsWith(".in-addr.arpa"))
    return labels.length === 4 && isIP(labels.join(".")) ? labels.join(".") : undefined;
  if (!name.endsWith(".ip6.arpa") || labels.length !== 32 || !labels.every((each) => /^[0-9a-f]$/.test(each)))
    return undefined;
  return labels.join("").match(/.{4}/g)!.join(":");
}

/** Returns a canonical key of an address, since addresses can be spelled differently. */
export const addressKey = (address: string): string => (parseIp(address) ?? []).join(".");
