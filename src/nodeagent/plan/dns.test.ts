import assert from "node:assert/strict";
import { test } from "node:test";
import { samplePod } from "../pod.fixture.ts";
import {
  type DnsConfig,
  type DnsSettings,
  dnsLimits,
  parseResolvConf,
  podDns,
  resolverProblem,
} from "./dns.ts";

const host = { servers: ["9.9.9.9"], searches: ["node.test"], options: ["rotate"] };
const settings = { agent: "nodeagent", clusterServers: ["10.0.0.10"], clusterDomain: "cluster.local", host };
const longDomain = `${"a".repeat(60)}.`.repeat(4) + "b".repeat(10);
const more: [
  name: string,
  spec: object,
  given: Partial<DnsSettings>,
  config: Partial<DnsConfig>,
  reasons: string[],
][] = [
  [
    "none if the node has no resolver file",
    { dnsPolicy: "Default" },
    { localServers: ["127.0.0.1", "::1"] },
    { servers: ["127.0.0.1", "::1"], searches: ["."], options: [] },
    [],
  ],
  [
    "no domain on which resolvers abort",
    { dnsPolicy: "Default", dnsConfig: { searches: [longDomain] } },
    {},
    host,
    ["DNSConfigForming"],
  ],
  [
    "six domains without ExpandedDNSConfig",
    { dnsPolicy: "Default", dnsConfig: { searches: ["b", "c", "d", "e", "f", "g"] } },
    { limits: dnsLimits(false) },
    { ...host, searches: ["node.test", "b", "c", "d", "e", "f"] },
    ["DNSConfigForming"],
  ],
  [
    "an option with an empty value",
    { dnsPolicy: "Default", dnsConfig: { options: [{ name: "trust-ad", value: "" }] } },
    {},
    { ...host, options: ["rotate", "trust-ad"] },
    [],
  ],
];
for (const [name, spec, given, config, reasons] of more)
  test(`name resolution of a pod: ${name}`, () => {
    const result = podDns(samplePod(spec), { ...settings, ...given });
    assert.deepEqual([result.config, result.warnings.map(({ reason }) => reason)], [config, reasons]);
  });

test("problems of the node's resolver file", () => {
  const problem = (searches: string[], limits = dnsLimits(true), domain = "c") =>
    resolverProblem("/r", { servers: [], searches, options: [] }, domain, limits);
  const domains = (count: number) => Array.from({ length: count }, (_, at) => `d${at}`);
  assert.equal(problem(domains(29)), undefined);
  assert.match(
    problem(domains(30))!,
    /^Resolv\.conf file '\/r' contains search line consisting of more than 29 domains!$/,
  );
  assert.equal(problem(domains(32), undefined, ""), undefined);
  assert.match(problem(domains(4), dnsLimits(false))!, /more than 3 domains!$/);
  assert.match(
    problem([longDomain])!,
    /^Resolv\.conf file "\/r" contains a search path which length is more than allowed 253 chars!$/,
  );
  assert.match(
    problem([longDomain.slice(9), "x".repeat(20)], dnsLimits(false))!,
    /length is more than allowed 256 chars!$/,
  );
});

test("only name servers, searches and options of a resolver file are used", () => {
  assert.deepEqual(parseResolvConf("domain a.b\nsearch c.d\ndomain e.f\n").searches, ["c.d"]);
  assert.throws(() => parseResolvConf("nameserver\n"), /^Error: nameserver list is empty $/);
});
