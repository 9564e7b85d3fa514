import assert from "node:assert/strict";
import { test } from "node:test";
import type { ApiObject } from "../strategy.ts";
import { type ServiceAllocator, service, serviceWith } from "./service.ts";
import { cellsOf, tryCreate, tryPart, tryUpdate } from "./try-out.fixture.ts";

const metadata = { name: "s", namespace: "n" };
const port = { port: 1 };
type Sent = Record<string, unknown>;

const refused: [name: string, spec: Sent, causes: string[]][] = [
  ["one port is enough", { ports: [port] }, []],
  ["ports are needed", {}, ["Required spec.ports"]],
  ["a headless service needs no ports", { clusterIP: "None" }, []],
  [
    "ports have bounds",
    { ports: [{ port: 0 }] },
    ["Invalid spec.ports[0].port", "Invalid spec.ports[0].targetPort"],
  ],
  ["protocols are known", { ports: [{ port: 1, protocol: "X" }] }, ["NotSupported spec.ports[0].protocol"]],
  [
    "several ports need names",
    { ports: [port, { port: 2 }] },
    ["Required spec.ports[0].name", "Required spec.ports[1].name"],
  ],
  // prettier-ignore
  ["names of ports differ", { ports: [{ port: 1, name: "a" }, { port: 2, name: "a" }] }, ["Duplicate spec.ports[1].name"]],
  // prettier-ignore
  ["ports differ", { ports: [{ port: 1, name: "a" }, { port: 1, name: "b" }] }, ["Duplicate spec.ports[1]"]],
  [
    "a bad name breaks two rules",
    { ports: [{ port: 1, targetPort: "UPPER_" }] },
    ["Invalid spec.ports[0].targetPort", "Invalid spec.ports[0].targetPort"],
  ],
  ["types are known", { type: "Odd", ports: [port] }, ["NotSupported spec.type"]],
  [
    "affinity has a time",
    {
      sessionAffinity: "ClientIP",
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 0 } },
      ports: [port],
    },
    ["Invalid spec.sessionAffinityConfig.clientIP.timeoutSeconds"],
  ],
  [
    "outside addresses are ordinary ones",
    { externalIPs: ["x", "127.0.0.1"], ports: [port] },
    ["Invalid spec.externalIPs[0]", "Invalid spec.externalIPs[1]"],
  ],
  ["node ports need a type", { ports: [{ port: 1, nodePort: 30001 }] }, ["Forbidden spec.ports[0].nodePort"]],
  [
    "traffic from outside needs a type",
    { externalTrafficPolicy: "Local", ports: [port] },
    ["Invalid spec.externalTrafficPolicy"],
  ],
  [
    "traffic from inside is known even where there is none",
    { type: "ExternalName", externalName: "a.b", internalTrafficPolicy: "X" },
    ["NotSupported spec.internalTrafficPolicy"],
  ],
  [
    "traffic from inside is known",
    { internalTrafficPolicy: "X", ports: [port] },
    ["NotSupported spec.internalTrafficPolicy"],
  ],
  [
    "source ranges are blocks",
    { loadBalancerSourceRanges: ["1.2.3.4/40"], type: "LoadBalancer", ports: [port] },
    ["Invalid spec.LoadBalancerSourceRanges"],
  ],
  [
    "classes are for load balancers",
    { loadBalancerClass: "a/b", ports: [port] },
    ["Forbidden spec.loadBalancerClass"],
  ],
  [
    "node ports are allocated for load balancers",
    { allocateLoadBalancerNodePorts: true, ports: [port] },
    ["Forbidden spec.allocateLoadBalancerNodePorts"],
  ],
  [
    "health checks are for local load balancers",
    { healthCheckNodePort: 30005, ports: [port] },
    ["Invalid spec.healthCheckNodePort"],
  ],
  ["an alias needs a name", { type: "ExternalName" }, ["Required spec.externalName"]],
  [
    "an alias has no address",
    { type: "ExternalName", externalName: "x.example", clusterIP: "10.0.0.9" },
    ["Forbidden spec.clusterIPs"],
  ],
  [
    "a load balancer needs an address",
    { type: "LoadBalancer", clusterIP: "None", ports: [port] },
    ["Invalid spec.clusterIPs[0]"],
  ],
  [
    "the two fields for the address agree",
    { clusterIP: "10.0.0.77", clusterIPs: ["10.0.0.78"], ports: [port] },
    ["Invalid spec.clusterIPs"],
  ],
  ["an address is an address", { clusterIP: "x", ports: [port] }, ["Invalid spec.clusterIPs[0]"]],
  [
    "families are named once",
    { ipFamilies: ["IPv4", "IPv4"], ports: [port] },
    ["Duplicate spec.ipFamilies[1]"],
  ],
  [
    "families are offered by the cluster",
    { ipFamilies: ["IPv6"], ports: [port] },
    ["Invalid spec.ipFamilies[0]"],
  ],
  [
    "two stacks are offered by the cluster",
    { ipFamilyPolicy: "RequireDualStack", ports: [port] },
    ["Invalid spec.ipFamilyPolicy"],
  ],
  ["two stacks may be preferred", { ipFamilyPolicy: "PreferDualStack", ports: [port] }, []],
];
for (const [name, spec, causes] of refused)
  test(name, () => assert.deepEqual(tryCreate(service, { metadata, spec }).causes, causes));

const specOf = ({ object }: { object: Sent }): Sent => object["spec"] as Sent;

test("a service gets the defaults of its type", () => {
  const plain = specOf(tryCreate(service, { metadata, spec: { ports: [{ port: 80 }] } }));
  assert.deepEqual(plain["ports"], [{ port: 80, targetPort: 80, protocol: "TCP" }]);
  assert.equal(plain["internalTrafficPolicy"], "Cluster");
  assert.equal(plain["ipFamilyPolicy"], "SingleStack");
  const balanced = specOf(tryCreate(service, { metadata, spec: { type: "LoadBalancer", ports: [port] } }));
  assert.equal(balanced["externalTrafficPolicy"], "Cluster");
  assert.equal(balanced["allocateLoadBalancerNodePorts"], true);
  const free = specOf(tryCreate(service, { metadata, spec: { clusterIP: "None" } }));
  assert.deepEqual(
    [free["ipFamilies"], free["ipFamilyPolicy"], free["clusterIPs"]],
    [["IPv4", "IPv6"], "RequireDualStack", ["None"]],
  );
});

/** Allocates 10.0.0.1 and node ports from 30000. */
const pool: ServiceAllocator = {
  families: ["IPv4"],
  allocate: ({ spec }) => {
    if (spec.type !== "ExternalName" && !spec.clusterIP) {
      spec.clusterIP = "10.0.0.1";
      spec.clusterIPs = ["10.0.0.1"];
    }
    const onNodes = spec.type === "NodePort" || spec.type === "LoadBalancer";
    spec.ports?.forEach((item, position) => {
      if (onNodes) item.nodePort ||= 30_000 + position;
    });
    if (spec.type === "LoadBalancer" && spec.externalTrafficPolicy === "Local")
      spec.healthCheckNodePort ||= 31_000;
    return [];
  },
};
const pooled = serviceWith(pool);

test("what was given stays when a client does not send it", () => {
  const { object, causes } = tryUpdate(
    pooled,
    { metadata, spec: { type: "NodePort", ports: [port] } },
    { metadata, spec: { type: "NodePort", ports: [{ port: 2 }] } },
  );
  assert.deepEqual(causes, []);
  assert.equal(specOf({ object })["clusterIP"], "10.0.0.1");
  assert.deepEqual(specOf({ object })["ports"], [
    { port: 2, targetPort: 2, protocol: "TCP", nodePort: 30_000 },
  ]);
});

test("what the old type needed goes with it", () => {
  const sent = { type: "LoadBalancer", externalTrafficPolicy: "Local", ports: [port] };
  const before = specOf(tryCreate(pooled, { metadata, spec: sent }));
  assert.equal(before["healthCheckNodePort"], 31_000);
  const { object, causes } = tryUpdate(
    pooled,
    { metadata, spec: sent },
    { metadata, spec: { ...before, type: "ExternalName", externalName: "x.example.com" } },
  );
  assert.deepEqual(causes, []);
  assert.deepEqual(specOf({ object }), {
    type: "ExternalName",
    externalName: "x.example.com",
    ports: [{ port: 1, targetPort: 1, protocol: "TCP" }],
    sessionAffinity: "None",
  });
});

const changed: [name: string, before: Sent, after: Sent, causes: string[]][] = [
  [
    "the address stays",
    { ports: [port] },
    { ports: [port], clusterIP: "10.0.0.250", clusterIPs: ["10.0.0.250"] },
    ["Invalid spec.clusterIPs[0]"],
  ],
  [
    "the address stays where only the single field is changed",
    { ports: [port] },
    { ports: [port], clusterIP: "10.0.0.250", clusterIPs: ["10.0.0.1"] },
    ["Invalid spec.clusterIPs[0]"],
  ],
  [
    "a headless service stays so",
    { selector: { x: "y" }, ports: [port], clusterIP: "None" },
    { selector: { x: "y" }, ports: [port], clusterIP: "10.0.0.250", clusterIPs: ["None"] },
    ["Invalid spec.clusterIPs[0]"],
  ],
  [
    "the list alone does not change the address",
    { ports: [port] },
    { ports: [port], clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.250"] },
    ["Invalid spec.clusterIPs"],
  ],
  [
    "an alias that drops only the single field drops both",
    { ports: [port] },
    { type: "ExternalName", externalName: "x.example", clusterIP: "", clusterIPs: ["10.0.0.1"] },
    [],
  ],
  ["the address may be left out", { ports: [port] }, { ports: [port], clusterIP: "" }, []],
  [
    "the load balancer stays",
    { type: "LoadBalancer", ports: [port] },
    { type: "LoadBalancer", loadBalancerClass: "example.com/x", ports: [port] },
    ["Invalid spec.loadBalancerClass"],
  ],
];
for (const [name, before, after, causes] of changed)
  test(name, () =>
    assert.deepEqual(tryUpdate(pooled, { metadata, spec: before }, { metadata, spec: after }).causes, causes),
  );

test("a load balancer reports addresses", () => {
  const { causes } = tryPart(
    service,
    "status",
    { metadata, spec: { ports: [port] } },
    { status: { loadBalancer: { ingress: [{ ip: "x" }, { hostname: "1.2.3.4" }] } } },
  );
  assert.deepEqual(causes, [
    "Invalid status.loadBalancer.ingress[0].ip",
    "Invalid status.loadBalancer.ingress[1].hostname",
  ]);
});

test("addresses in unusual form are warned of", () => {
  const { warnings } = tryCreate(service, {
    metadata,
    spec: { ports: [port], externalIPs: ["2001:DB8:0::1", "198.51.100.9"] },
  });
  assert.equal(warnings.length, 1);
});

test("a table shows how a service is reached", () => {
  const rows: [Sent, unknown[]][] = [
    [
      { type: "ExternalName", externalName: "a.example.com" },
      ["s", "ExternalName", "<none>", "a.example.com", "<none>", "<unknown>", "<none>"],
    ],
    [
      { type: "LoadBalancer", ports: [port] },
      ["s", "LoadBalancer", "10.0.0.1", "<pending>", "1:30000/TCP", "<unknown>", "<none>"],
    ],
    [
      { ports: [port], selector: { x: "y" } },
      ["s", "ClusterIP", "10.0.0.1", "<none>", "1/TCP", "<unknown>", "x=y"],
    ],
  ];
  for (const [spec, cells] of rows) assert.deepEqual(cellsOf(pooled, { metadata, spec }), cells);
});

const restored: [name: string, stored: object, read: object][] = [
  [
    "a service of a release with one address",
    { type: "ClusterIP", clusterIP: "10.0.0.1" },
    { clusterIPs: ["10.0.0.1"], ipFamilies: ["IPv4"], ipFamilyPolicy: "SingleStack" },
  ],
  [
    "one with two",
    { type: "ClusterIP", clusterIP: "fd00::1", clusterIPs: ["fd00::1", "10.0.0.1"] },
    { ipFamilies: ["IPv6", "IPv4"], ipFamilyPolicy: "RequireDualStack" },
  ],
  [
    "a headless one with pods",
    { type: "ClusterIP", clusterIP: "None", selector: { a: "b" } },
    { clusterIPs: ["None"], ipFamilies: ["IPv4"], ipFamilyPolicy: "SingleStack" },
  ],
  [
    "a headless one whose endpoints somebody else writes",
    { type: "ClusterIP", clusterIP: "None" },
    { clusterIPs: ["None"], ipFamilies: ["IPv4", "IPv6"], ipFamilyPolicy: "RequireDualStack" },
  ],
  [
    "a name outside",
    { type: "ExternalName", internalTrafficPolicy: "Cluster" },
    { internalTrafficPolicy: undefined },
  ],
  [
    "what has families already",
    { type: "ClusterIP", clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.1"], ipFamilies: ["IPv4"] },
    {},
  ],
];
for (const [name, stored, read] of restored)
  test(`${name} is read with what later releases store`, () => {
    const object = { metadata: {}, spec: structuredClone(stored) } as unknown as ApiObject;
    service.restore!(object);
    const wanted = JSON.parse(JSON.stringify({ ...stored, ...read })) as object;
    assert.deepEqual((object as unknown as { spec: object }).spec, wanted);
  });
