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
  ["no endpoints that are not ready", [ready("10.1.0.1"), unready("10.1.0.2")], ["10.1.0.1"], []],
  [
    "no terminating endpoint while another is ready",
    [ready("10.1.0.1"), ending("10.1.0.2")],
    ["10.1.0.1"],
    [],
  ],
  ["terminating endpoints if none is ready", [unready("10.1.0.1"), ending("10.1.0.2")], ["10.1.0.2"], []],
  [
    "a terminating local endpoint if only remote ones are ready",
    [ready("10.1.0.1"), ending("10.1.0.2", here)],
    ["10.1.0.1"],
    ["10.1.0.2"],
  ],
  ["each endpoint once", [ready("10.1.0.1"), ready("10.1.0.1")], ["10.1.0.1"], []],
  ["canonical addresses, without invalid ones", [ready("010.1.0.1"), ready("x")], ["10.1.0.1"], []],
];
for (const [name, endpoints, all, local] of backendCases)
  test(`backends are ${name}`, () => {
    const [port] = planOf({}, endpoints);
    assert.deepEqual(addressesOf(port?.backends), all);
    assert.deepEqual(addressesOf(port?.localBackends), local);
  });

test("health checks count the ready endpoints of the node only", () => {
  const endpoints = [ready("10.1.0.1", here), ending("10.1.0.2", here), ready("10.1.0.3")];
  assert.deepEqual(planOf({}, endpoints)[0]?.readyLocalAddresses, ["10.1.0.1"]);
  const [draining] = planOf({}, endpoints.slice(1));
  assert.deepEqual([addressesOf(draining?.localBackends), draining?.readyLocalAddresses], [["10.1.0.2"], []]);
});

const forZone = (zone: string) => ({ hints: { forZones: [{ name: zone }] } });
const hintCases: [name: string, mode: string, endpoints: object[], all: string[]][] = [
  ["select those of the zone", "Auto", [ready("10.1.0.1", forZone("a")), ready("10.1.0.2", forZone("b"))], ["10.1.0.1"]],
  ["are ignored unless enabled", "Disabled", [ready("10.1.0.1", forZone("a")), ready("10.1.0.2", forZone("b"))], ["10.1.0.1", "10.1.0.2"]],
  ["are ignored if one is missing", "Auto", [ready("10.1.0.1", forZone("a")), ready("10.1.0.2")], ["10.1.0.1", "10.1.0.2"]],
  ["are ignored if there is none for the zone", "auto", [ready("10.1.0.1", forZone("b"))], ["10.1.0.1"]],
]; // prettier-ignore
for (const [name, mode, endpoints, all] of hintCases)
  test(`hints ${name}`, () => {
    const [port] = planOf({ annotations: { "topology-mode": mode } }, endpoints);
    assert.deepEqual(addressesOf(port?.backends), all);
  });

test("a traffic distribution follows hints without an annotation", () => {
  const endpoints = [ready("10.1.0.1", forZone("a")), ready("10.1.0.2", forZone("b"))];
  const [port] = planOf({ spec: { trafficDistribution: "PreferClose" } }, endpoints);
  assert.deepEqual(addressesOf(port?.backends), ["10.1.0.1"]);
});

test("a service without a cluster IP has no ports", () => {
  assert.deepEqual(planOf({ spec: { clusterIP: "None" } }, []), []);
  assert.deepEqual(planOf({ spec: { type: "ExternalName", clusterIP: "" } }, []), []);
});

test("a dual-stack service has its ports in both families", () => {
  const plan = planOf({ spec: { clusterIPs: ["10.96.0.1", "fd00::1"] } }, [ready("10.1.0.1")]);
  assert.deepEqual(
    plan.map(({ family, clusterAddress, backends }) => [family, clusterAddress, backends.length]),
    [
      [4, "10.96.0.1", 1],
      [6, "fd00::1", 0],
    ],
  );
});

test("external traffic is accepted according to service type and traffic policy", () => {
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
      status: {
        loadBalancer: {
          ingress: [
            { ip: "203.0.113.2" },
            { ip: "203.0.113.3", ipMode: "Proxy" },
            { hostname: "lb.example.org" },
          ],
        },
      },
    },
    [],
  );
  const { hash: _hash, backends: _all, localBackends: _local, readyLocalAddresses: _ready, ...rest } = port!;
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
  test(`a terminating endpoint is ${usesTerminating ? "" : "not "}used with the gate ${usesTerminating ? "enabled" : "disabled"}`, () => {
    const [port] = planOf({}, [unready("10.1.0.1"), ending("10.1.0.2", here)], { usesTerminating });
    assert.deepEqual([addressesOf(port?.backends), addressesOf(port?.localBackends)], [expected, expected]);
  });

const hintsFor = (name: string) => ({ hints: { forZones: [{ name }] } });
const modeCases: [name: string, annotations: Record<string, string>, names: string[], followed: boolean][] = [
  ["Auto", { mode: "Auto" }, ["mode"], true],
  ["any other value", { mode: "PreferZone" }, ["mode"], true],
  ["Disabled", { mode: "Disabled" }, ["mode"], false],
  ["an empty value", { mode: "" }, ["mode"], false],
  ["no annotation", {}, ["mode"], false],
  ["the annotation of higher precedence", { old: "disabled", mode: "Auto" }, ["old", "mode"], false],
  ["Auto while the gate is disabled", { mode: "Auto" }, [], false],
];
for (const [name, annotations, hintAnnotations, followed] of modeCases)
  test(`with ${name} hints are ${followed ? "" : "not "}followed`, () => {
    const endpoints = [ready("10.1.0.1", hintsFor("a")), ready("10.1.0.2", hintsFor("b"))];
    const [port] = planOf({ annotations }, endpoints, { hintAnnotations });
    assert.deepEqual(addressesOf(port?.backends), followed ? ["10.1.0.1"] : ["10.1.0.1", "10.1.0.2"]);
  });

test("a terminating endpoint without a serving condition counts as serving", () => {
  const [port] = planOf({}, [ready("10.1.0.1", { conditions: { ready: false, terminating: true } })]);
  assert.deepEqual(addressesOf(port?.backends), ["10.1.0.1"]);
});
