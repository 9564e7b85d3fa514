import assert from "node:assert/strict";
import { test } from "node:test";
import { type NamedService, type ServiceDirectory, addressOf, clusterZone } from "./cluster-records.ts";
import { type ResourceRecord, recordTypes } from "./wire.ts";

const http = { name: "http", protocol: "tcp", port: 80 };
const services: Record<string, NamedService> = {
  "shop/web": {
    is: "address",
    addresses: ["10.0.0.1", "fd00::1"],
    ports: [http, { name: "dns", protocol: "udp", port: 53 }],
  },
  "shop/db": {
    is: "headless",
    endpoints: [
      { address: "10.1.0.1", hostname: "db-0", ports: [http] },
      { address: "10.1.0.2", hostname: "10-1-0-2", ports: [http] },
    ],
  },
  "shop/empty": { is: "headless", endpoints: [] },
  "shop/away": { is: "alias", target: "example.org" },
  "shop/long": { is: "alias", target: `${"x".repeat(64)}.example.org` },
  "shop/fixed": { is: "alias", target: "192.0.2.7" },
};
const directory: ServiceDirectory = {
  service: (namespace, name) => services[`${namespace}/${name}`],
  hasNamespace: (namespace) => namespace === "shop",
  namesOf: (address) => (address === "10.0.0.1" ? ["web.shop"] : []),
};
const zone = clusterZone({ domain: "cluster.local", ttl: 5, serial: 1, addresses: ["10.0.0.10"] }, directory);

const short = (record: ResourceRecord): string => {
  switch (record.type) {
    case "A":
    case "AAAA":
      return record.address;
    case "SRV":
      return `${record.weight} ${record.port} ${record.target}`;
    case "TXT":
      return record.text;
    case "SOA":
      return record.primary;
    case "CNAME":
    case "NS":
    case "PTR":
      return record.target;
  }
};

const cases: [name: string, type: keyof typeof recordTypes, expected: string | string[]][] = [
  ["web.shop.svc.cluster.local", "A", ["10.0.0.1"]],
  ["web.shop.svc.cluster.local", "AAAA", ["fd00::1"]],
  ["web.shop.svc.cluster.local", "TXT", "no data"],
  ["_http._tcp.web.shop.svc.cluster.local", "SRV", ["100 80 web.shop.svc.cluster.local"]],
  ["_http._udp.web.shop.svc.cluster.local", "SRV", "no such name"],
  ["_tcp.web.shop.svc.cluster.local", "SRV", "no data"],
  ["_sctp.web.shop.svc.cluster.local", "SRV", "no such name"],
  [
    "web.shop.svc.cluster.local",
    "SRV",
    ["50 80 web.shop.svc.cluster.local", "50 53 web.shop.svc.cluster.local"],
  ],
  ["long.shop.svc.cluster.local", "A", "no data"],
  ["long.shop.svc.cluster.local", "CNAME", "no data"],
  ["x.web.shop.svc.cluster.local", "A", "no such name"],
  ["db.shop.svc.cluster.local", "A", ["10.1.0.1", "10.1.0.2"]],
  ["db.shop.svc.cluster.local", "AAAA", "no data"],
  ["db-0.db.shop.svc.cluster.local", "A", ["10.1.0.1"]],
  ["10-1-0-2.db.shop.svc.cluster.local", "A", ["10.1.0.2"]],
  ["db-1.db.shop.svc.cluster.local", "A", "no such name"],
  [
    "_http._tcp.db.shop.svc.cluster.local",
    "SRV",
    ["50 80 db-0.db.shop.svc.cluster.local", "50 80 10-1-0-2.db.shop.svc.cluster.local"],
  ],
  ["empty.shop.svc.cluster.local", "A", "no such name"],
  ["away.shop.svc.cluster.local", "CNAME", ["example.org"]],
  ["away.shop.svc.cluster.local", "A", "alias"],
  ["_http._tcp.away.shop.svc.cluster.local", "SRV", "no such name"],
  ["fixed.shop.svc.cluster.local", "A", ["192.0.2.7"]],
  ["gone.shop.svc.cluster.local", "A", "no such name"],
  ["a.b._http._tcp.web.shop.svc.cluster.local", "A", "no such name"],
  ["shop.svc.cluster.local", "A", "no data"],
  ["other.svc.cluster.local", "A", "no such name"],
  ["svc.cluster.local", "A", "no data"],
  ["google.com.shop.svc.cluster.local", "A", "no such name"],
  ["1-2-3-4.shop.pod.cluster.local", "A", ["1.2.3.4"]],
  ["1-2-3-4.shop.pod.cluster.local", "AAAA", "no data"],
  ["fd00--5.shop.pod.cluster.local", "AAAA", ["fd00::5"]],
  ["1-2-3.shop.pod.cluster.local", "A", "no such name"],
  ["shop.pod.cluster.local", "A", "no data"],
  ["cluster.local", "SOA", ["ns.dns.cluster.local"]],
  ["cluster.local", "NS", ["ns.dns.cluster.local"]],
  ["cluster.local", "A", "no data"],
  ["ns.dns.cluster.local", "A", ["10.0.0.10"]],
  ["dns-version.cluster.local", "TXT", ["1.1.0"]],
  ["com.cluster.local", "A", "no such name"],
  ["mycluster.local", "A", "elsewhere"],
  ["example.org", "A", "elsewhere"],
  ["1.0.0.10.in-addr.arpa", "PTR", ["web.shop.svc.cluster.local"]],
  ["1.0.0.10.in-addr.arpa", "A", "no data"],
  ["9.9.9.9.in-addr.arpa", "PTR", "elsewhere"],
];
for (const [name, type, expected] of cases) {
  test(`${type} of ${name} is ${[expected].flat().join(", ")}`, () => {
    const result = zone.lookup(name, recordTypes[type]);
    assert.deepEqual(result.is === "found" ? result.records.map(short) : result.is, expected);
  });
}

test("records of headless services include the addresses of their targets", () => {
  const result = zone.lookup("_http._tcp.db.shop.svc.cluster.local", recordTypes.SRV);
  assert.equal(result.is, "found");
  assert.deepEqual(
    result.is === "found" && result.additional?.map((record) => `${record.name} ${short(record)}`),
    ["db-0.db.shop.svc.cluster.local 10.1.0.1", "10-1-0-2.db.shop.svc.cluster.local 10.1.0.2"],
  );
});

const reverse: [name: string, address: string | undefined][] = [
  ["4.3.2.1.in-addr.arpa", "1.2.3.4"],
  ["3.2.1.in-addr.arpa", undefined],
  [`${"1.".padEnd(64, "0.")}ip6.arpa`, "0000:0000:0000:0000:0000:0000:0000:0001"],
  ["x.ip6.arpa", undefined],
];
for (const [name, address] of reverse)
  test(`${name} stands for ${address}`, () => assert.equal(addressOf(name), address));
