import assert from "node:assert/strict";
import { test } from "node:test";
import type { ApiObject } from "../strategy.ts";
import { type ServiceAllocator, service, serviceWith } from "./service.ts";
import { cellsOf, tryCreate, tryPart, tryUpdate } from "./strategy.fixture.ts";

const metadata = { name: "s", namespace: "n" };
const port = { port: 1 };
type Sent = Record<string, unknown>;

const refused: [name: string, spec: Sent, causes: string[]][] = [
  ["a single port is valid", { ports: [port] }, []],
  ["ports are required", {}, ["Required spec.ports"]],
  ["a headless service may have no ports", { clusterIP: "None" }, []],
  [
    "port numbers are bounded",
    { ports: [{ port: 0 }] },
    ["Invalid spec.ports[0].port", "Invalid spec.ports[0].targetPort"],
  ],
  [
    "an unknown protocol is refused",
    { ports: [{ port: 1, protocol: "X" }] },
    ["NotSupported spec.ports[0].protocol"],
  ],
  [
    "several ports require names",
    { ports: [port, { port: 2 }] },
    ["Required spec.ports[0].name", "Required spec.ports[1].name"],
  ],
  // prettier-ignore
  ["port names are unique", { ports: [{ port: 1, name: "a" }, { port: 2, name: "a" }] }, ["Duplicate spec.ports[1].name"]],
  // prettier-ignore
  ["ports are unique", { ports: [{ port: 1, name: "a" }, { port: 1, name: "b" }] }, ["Duplicate spec.ports[1]"]],
  [
    "an invalid target port name breaks two rules",
    { ports: [{ port: 1, targetPort: "UPPER_" }] },
    ["Invalid spec.ports[0].targetPort", "Invalid spec.ports[0].targetPort"],
  ],
  ["an unknown type is refused", { type: "Odd", ports: [port] }, ["NotSupported spec.type"]],
  [
    "the timeout of session affinity is bounded",
    {
      sessionAffinity: "ClientIP",
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 0 } },
      ports: [port],
    },
    ["Invalid spec.sessionAffinityConfig.clientIP.timeoutSeconds"],
  ],
  [
    "external IPs must not be local addresses",
    { externalIPs: ["x", "127.0.0.1"], ports: [port] },
    ["Invalid spec.externalIPs[0]", "Invalid spec.externalIPs[1]"],
  ],
  [
    "node ports require a suitable type",
    { ports: [{ port: 1, nodePort: 30001 }] },
    ["Forbidden spec.ports[0].nodePort"],
  ],
  [
    "externalTrafficPolicy requires a suitable type",
    { externalTrafficPolicy: "Local", ports: [port] },
    ["Invalid spec.externalTrafficPolicy"],
  ],
  [
    "internalTrafficPolicy is validated even if it does not apply",
    { type: "ExternalName", externalName: "a.b", internalTrafficPolicy: "X" },
    ["NotSupported spec.internalTrafficPolicy"],
  ],
  [
    "an unknown internalTrafficPolicy is refused",
    { internalTrafficPolicy: "X", ports: [port] },
    ["NotSupported spec.internalTrafficPolicy"],
  ],
  [
    "source ranges must be CIDRs",
    { loadBalancerSourceRanges: ["1.2.3.4/40"], type: "LoadBalancer", ports: [port] },
    ["Invalid spec.LoadBalancerSourceRanges"],
  ],
  [
    "classes require a load balancer",
    { loadBalancerClass: "a/b", ports: [port] },
    ["Forbidden spec.loadBalancerClass"],
  ],
  [
    "allocateLoadBalancerNodePorts requires a load balancer",
    { allocateLoadBalancerNodePorts: true, ports: [port] },
    ["Forbidden spec.allocateLoadBalancerNodePorts"],
  ],
  [
    "health check ports require a local load balancer",
    { healthCheckNodePort: 30005, ports: [port] },
    ["Invalid spec.healthCheckNodePort"],
  ],
  ["an ExternalName service requires a name", { type: "ExternalName" }, ["Required spec.externalName"]],
  [
    "an ExternalName service has no cluster IPs",
    { type: "ExternalName", externalName: "x.example", clusterIP: "10.0.0.9" },
    ["Forbidden spec.clusterIPs"],
  ],
  [
    "a load balancer must not be headless",
    { type: "LoadBalancer", clusterIP: "None", ports: [port] },
    ["Invalid spec.clusterIPs[0]"],
  ],
  [
    "clusterIP and clusterIPs must agree",
    { clusterIP: "10.0.0.77", clusterIPs: ["10.0.0.78"], ports: [port] },
    ["Invalid spec.clusterIPs"],
  ],
  ["a malformed cluster IP is refused", { clusterIP: "x", ports: [port] }, ["Invalid spec.clusterIPs[0]"]],
  [
    "IP families are unique",
    { ipFamilies: ["IPv4", "IPv4"], ports: [port] },
    ["Duplicate spec.ipFamilies[1]"],
  ],
  [
    "IP families must be available in the cluster",
    { ipFamilies: ["IPv6"], ports: [port] },
    ["Invalid spec.ipFamilies[0]"],
  ],
  [
    "dual-stack must be available in the cluster",
    { ipFamilyPolicy: "RequireDualStack", ports: [port] },
    ["Invalid spec.ipFamilyPolicy"],
  ],
  ["dual-stack may be preferred", { ipFamilyPolicy: "PreferDualStack", ports: [port] }, []],
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

test("allocated values persist when a client does not send them", () => {
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

test("allocated values of the old type are dropped when the type changes", () => {
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
    "the cluster IP is immutable",
    { ports: [port] },
    { ports: [port], clusterIP: "10.0.0.250", clusterIPs: ["10.0.0.250"] },
    ["Invalid spec.clusterIPs[0]"],
  ],
  [
    "the cluster IP is immutable even if only clusterIP is changed",
    { ports: [port] },
    { ports: [port], clusterIP: "10.0.0.250", clusterIPs: ["10.0.0.1"] },
    ["Invalid spec.clusterIPs[0]"],
  ],
  [
    "a headless service stays headless",
    { selector: { x: "y" }, ports: [port], clusterIP: "None" },
    { selector: { x: "y" }, ports: [port], clusterIP: "10.0.0.250", clusterIPs: ["None"] },
    ["Invalid spec.clusterIPs[0]"],
  ],
  [
    "clusterIPs alone does not change the cluster IP",
    { ports: [port] },
    { ports: [port], clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.250"] },
    ["Invalid spec.clusterIPs"],
  ],
  [
    "an ExternalName service that drops only clusterIP drops both",
    { ports: [port] },
    { type: "ExternalName", externalName: "x.example", clusterIP: "", clusterIPs: ["10.0.0.1"] },
    [],
  ],
  ["the cluster IP may be omitted", { ports: [port] }, { ports: [port], clusterIP: "" }, []],
  [
    "the load balancer class is immutable",
    { type: "LoadBalancer", ports: [port] },
    { type: "LoadBalancer", loadBalancerClass: "example.com/x", ports: [port] },
    ["Invalid spec.loadBalancerClass"],
  ],
];
for (const [name, before, after, causes] of changed)
  test(name, () =>
    assert.deepEqual(tryUpdate(pooled, { metadata, spec: before }, { metadata, spec: after }).causes, causes),
  );

test("addresses in the status of a load balancer are validated", () => {
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

test("non-canonical addresses get warnings", () => {
  const { warnings } = tryCreate(service, {
    metadata,
    spec: { ports: [port], externalIPs: ["2001:DB8:0::1", "198.51.100.9"] },
  });
  assert.equal(warnings.length, 1);
});

test("the table row shows how a service is reached", () => {
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
    "a single-stack service of an older release",
    { type: "ClusterIP", clusterIP: "10.0.0.1" },
    { clusterIPs: ["10.0.0.1"], ipFamilies: ["IPv4"], ipFamilyPolicy: "SingleStack" },
  ],
  [
    "a dual-stack service of an older release",
    { type: "ClusterIP", clusterIP: "fd00::1", clusterIPs: ["fd00::1", "10.0.0.1"] },
    { ipFamilies: ["IPv6", "IPv4"], ipFamilyPolicy: "RequireDualStack" },
  ],
  [
    "a headless service with a selector",
    { type: "ClusterIP", clusterIP: "None", selector: { a: "b" } },
    { clusterIPs: ["None"], ipFamilies: ["IPv4"], ipFamilyPolicy: "SingleStack" },
  ],
  [
    "a headless service without a selector",
    { type: "ClusterIP", clusterIP: "None" },
    { clusterIPs: ["None"], ipFamilies: ["IPv4", "IPv6"], ipFamilyPolicy: "RequireDualStack" },
  ],
  [
    "an ExternalName service",
    { type: "ExternalName", internalTrafficPolicy: "Cluster" },
    { internalTrafficPolicy: undefined },
  ],
  [
    "a service with IP families",
    { type: "ClusterIP", clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.1"], ipFamilies: ["IPv4"] },
    {},
  ],
];
for (const [name, stored, read] of restored)
  test(`${name} is read with the fields of later releases`, () => {
    const object = { metadata: {}, spec: structuredClone(stored) } as unknown as ApiObject;
    service.restore!(object);
    const wanted = JSON.parse(JSON.stringify({ ...stored, ...read })) as object;
    assert.deepEqual((object as unknown as { spec: object }).spec, wanted);
  });
