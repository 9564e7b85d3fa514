import assert from "node:assert/strict";
import { test } from "node:test";
import { type SeenService, type SeenSlice, servicePorts } from "./service-ports.ts";

interface Given {
  readonly spec?: object;
  readonly status?: object;
  readonly annotations?: Record<string, string>;
}
const serviceOf = ({ spec = {}, status = {}, annotations = {} }: Given): SeenService =>
  ({
    metadata: { namespace: "shop", name: "web", annotations },
    spec: { clusterIP: "10.96.0.1", ports: [{ name: "http", port: 80, protocol: "TCP" }], ...spec },
    status,
  }) as SeenService;
const sliceOf = (endpoints: object[], more: object = {}): SeenSlice =>
  ({
    metadata: { namespace: "shop", name: "web-1" },
    addressType: "IPv4",
    ports: [{ name: "http", port: 8080, protocol: "TCP" }],
    endpoints,
    ...more,
  }) as SeenSlice;
const node = { name: "here", zone: "a" };
const rules = { hintAnnotations: ["topology-mode"], usesTerminating: true };
const planOf = (given: Given, endpoints: object[], more: Partial<typeof rules> = {}) =>
  servicePorts(serviceOf(given), [sliceOf(endpoints)], node, { ...rules, ...more });
const addressesOf = (list: readonly { address: string }[] = []) => list.map(({ address }) => address);

const ready = (address: string, more: object = {}) => ({ addresses: [address], ...more });
const ending = (address: string, more: object = {}) => ({
  addresses: [address],
  conditions: { ready: false, serving: true, terminating: true },
  ...more,
});
const unready = (address: string) => ({ addresses: [address], conditions: { ready: false } });
const here = { nodeName: "here" };

const backendCases: [name: string, endpoints: object[], all: string[], local: string[]][] = [
  ["ready endpoints", [ready("10.1.0.1", here), ready("10.1.0.2")], ["10.1.0.1", "10.1.0.2"], ["10.1.0.1"]],
  ["no endpoint that is not ready", [ready("10.1.0.1"), unready("10.1.0.2")], ["10.1.0.1"], []],
  ["no ending endpoint while one is ready", [ready("10.1.0.1"), ending("10.1.0.2")], ["10.1.0.1"], []],
  ["ending endpoints where none is ready", [unready("10.1.0.1"), ending("10.1.0.2")], ["10.1.0.2"], []],
  [
    "an ending endpoint of the node, where others are ready elsewhere",
    [ready("10.1.0.1"), ending("10.1.0.2", here)],
    ["10.1.0.1"],
    ["10.1.0.2"],
  ],
  ["each endpoint once", [ready("10.1.0.1"), ready("10.1.0.1")], ["10.1.0.1"], []],
  [
    "addresses in their one spelling, and nothing that is none",
    [ready("010.1.0.1"), ready("x")],
    ["10.1.0.1"],
    [],
  ],
];
for (const [name, endpoints, all, local] of backendCases)
  test(`backends are ${name}`, () => {
    const [port] = planOf({}, endpoints);
    assert.deepEqual(addressesOf(port?.backends), all);
    assert.deepEqual(addressesOf(port?.localBackends), local);
  });

const forZone = (zone: string) => ({ hints: { forZones: [{ name: zone }] } });
const hintCases: [name: string, mode: string, endpoints: object[], all: string[]][] = [
  ["choose those of the zone", "Auto", [ready("10.1.0.1", forZone("a")), ready("10.1.0.2", forZone("b"))], ["10.1.0.1"]],
  ["are not asked unless told to", "Disabled", [ready("10.1.0.1", forZone("a")), ready("10.1.0.2", forZone("b"))], ["10.1.0.1", "10.1.0.2"]],
  ["are left out where one is missing", "Auto", [ready("10.1.0.1", forZone("a")), ready("10.1.0.2")], ["10.1.0.1", "10.1.0.2"]],
  ["are left out where none is for the zone", "auto", [ready("10.1.0.1", forZone("b"))], ["10.1.0.1"]],
]; // prettier-ignore
for (const [name, mode, endpoints, all] of hintCases)
  test(`hints ${name}`, () => {
    const [port] = planOf({ annotations: { "topology-mode": mode } }, endpoints);
    assert.deepEqual(addressesOf(port?.backends), all);
  });

test("a service without an address of its own has no ports here", () => {
  assert.deepEqual(planOf({ spec: { clusterIP: "None" } }, []), []);
  assert.deepEqual(planOf({ spec: { type: "ExternalName", clusterIP: "" } }, []), []);
});

test("a service of two families has its ports in both", () => {
  const plan = planOf({ spec: { clusterIPs: ["10.96.0.1", "fd00::1"] } }, [ready("10.1.0.1")]);
  assert.deepEqual(
    plan.map(({ family, clusterAddress, backends }) => [family, clusterAddress, backends.length]),
    [
      [4, "10.96.0.1", 1],
      [6, "fd00::1", 0],
    ],
  );
});

test("what comes from outside is taken as the type and the policies say", () => {
  const [port] = planOf(
    {
      spec: {
        type: "LoadBalancer",
        ports: [{ name: "http", port: 80, nodePort: 30080 }],
        externalIPs: ["203.0.113.1", "fd00::9"],
        loadBalancerSourceRanges: [" 10.1.2.3/8", "fd00::/8"],
        externalTrafficPolicy: "Local",
        internalTrafficPolicy: "Local",
        sessionAffinity: "ClientIP",
      },
      status: { loadBalancer: { ingress: [{ ip: "203.0.113.2" }, { hostname: "lb.example.org" }] } },
    },
    [],
  );
  const { hash: _hash, backends: _all, localBackends: _local, ...rest } = port!;
  assert.deepEqual(rest, {
    title: "shop/web:http",
    family: 4,
    protocol: "tcp",
    port: 80,
    clusterAddress: "10.96.0.1",
    externalAddresses: ["203.0.113.1"],
    balancerAddresses: ["203.0.113.2"],
    sourceRanges: ["10.0.0.0/8"],
    nodePort: 30080,
    affinitySeconds: 10_800,
    internalLocal: true,
    externalLocal: true,
  });
});

for (const [usesTerminating, expected] of [
  [true, ["10.1.0.2"]],
  [false, []],
] as const)
  test(`an ending endpoint is ${usesTerminating ? "" : "not "}used where the gate is ${usesTerminating ? "on" : "off"}`, () => {
    const [port] = planOf({}, [unready("10.1.0.1"), ending("10.1.0.2", here)], { usesTerminating });
    assert.deepEqual([addressesOf(port?.backends), addressesOf(port?.localBackends)], [expected, expected]);
  });

const hintsFor = (name: string) => ({ hints: { forZones: [{ name }] } });
const modeCases: [name: string, annotations: Record<string, string>, names: string[], followed: boolean][] = [
  ["Auto", { mode: "Auto" }, ["mode"], true],
  ["any other word", { mode: "PreferZone" }, ["mode"], true],
  ["Disabled", { mode: "Disabled" }, ["mode"], false],
  ["no word", { mode: "" }, ["mode"], false],
  ["no annotation", {}, ["mode"], false],
  ["the stronger annotation against the weaker", { old: "disabled", mode: "Auto" }, ["old", "mode"], false],
  ["Auto while the gate is off", { mode: "Auto" }, [], false],
];
for (const [name, annotations, hintAnnotations, followed] of modeCases)
  test(`with ${name} hints are ${followed ? "" : "not "}followed`, () => {
    const endpoints = [ready("10.1.0.1", hintsFor("a")), ready("10.1.0.2", hintsFor("b"))];
    const [port] = planOf({ annotations }, endpoints, { hintAnnotations });
    assert.deepEqual(addressesOf(port?.backends), followed ? ["10.1.0.1"] : ["10.1.0.1", "10.1.0.2"]);
  });

test("an ending endpoint that does not say whether it serves does so", () => {
  const [port] = planOf({}, [ready("10.1.0.1", { conditions: { ready: false, terminating: true } })]);
  assert.deepEqual(addressesOf(port?.backends), ["10.1.0.1"]);
});
