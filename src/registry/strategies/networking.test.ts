import assert from "node:assert/strict";
import { test } from "node:test";
import type { Strategy } from "../strategy.ts";
import { endpointSlice } from "./endpoint-slice.ts";
import { endpoints } from "./endpoints.ts";
import { ingress, ingressClass } from "./ingress.ts";
import { networkPolicy } from "./network-policy.ts";
import { isStrictPart, ordinaryIpErrors, parseCidr } from "./rules/address.ts";
import { cellsOf, contextOf, tryCreate, tryPart, tryUpdate } from "./try-out.fixture.ts";

const metadata = { name: "x" };
const backend = { service: { name: "s", port: { number: 80 } } };
const path = (given: object): object => ({
  spec: { rules: [{ http: { paths: [{ path: "/", pathType: "Exact", backend, ...given }] } }] },
});
const host = (name: string): object => ({ spec: { rules: [{ host: name }] } });
const from = (...peers: object[]): object => ({ spec: { ingress: [{ from: peers }] } });
const address = (ip: string): object => ({ subsets: [{ addresses: [{ ip }], ports: [{ port: 1 }] }] });
const slice = (endpoint: object): object => ({ addressType: "IPv4", endpoints: [endpoint] });

const refused: [name: string, strategy: Strategy, sent: object, causes: string[]][] = [
  ["an ingress leads somewhere", ingress, { spec: {} }, ["Invalid spec"]],
  [
    "a path has a type",
    ingress,
    path({ pathType: undefined }),
    ["Required spec.rules[0].http.paths[0].pathType"],
  ],
  [
    "a path's type is known",
    ingress,
    path({ pathType: "X" }),
    ["NotSupported spec.rules[0].http.paths[0].pathType"],
  ],
  ["a path is absolute", ingress, path({ path: "x" }), ["Invalid spec.rules[0].http.paths[0].path"]],
  [
    "a path goes straight",
    ingress,
    path({ path: "/a/../b/." }),
    ["Invalid spec.rules[0].http.paths[0].path", "Invalid spec.rules[0].http.paths[0].path"],
  ],
  [
    "a path may be anything the controller likes",
    ingress,
    path({ path: "/a/../b", pathType: "ImplementationSpecific" }),
    [],
  ],
  ["a host is a name", ingress, host("A_b"), ["Invalid spec.rules[0].host"]],
  ["a host is no address", ingress, host("1.2.3.4"), ["Invalid spec.rules[0].host"]],
  ["a host may stand for many", ingress, host("*.example.com"), []],
  ["a star stands in front", ingress, host("a.*.com"), ["Invalid spec.rules[0].host"]],
  [
    "a service has a port",
    ingress,
    { spec: { defaultBackend: { service: { name: "s" } } } },
    ["Required spec.defaultBackend"],
  ],
  [
    "a service has one port",
    ingress,
    { spec: { defaultBackend: { service: { name: "s", port: { number: 1, name: "x" } } } } },
    ["Invalid spec.defaultBackend"],
  ],
  [
    "a backend is one thing",
    ingress,
    { spec: { defaultBackend: { ...backend, resource: { kind: "K", name: "n" } } } },
    ["Invalid spec.defaultBackend"],
  ],
  [
    "a backend may be any object",
    ingress,
    { spec: { defaultBackend: { resource: { kind: "K", name: "" } } } },
    ["Required spec.defaultBackend.resource.name"],
  ],
  [
    "a class's controller has a domain",
    ingressClass,
    { spec: { controller: "bad ctl" } },
    ["Invalid spec.controller"],
  ],
  [
    "parameters in a namespace say which",
    ingressClass,
    { spec: { controller: "a.b/c", parameters: { kind: "K", name: "n", scope: "Namespace" } } },
    ["Required spec.parameters.namespace"],
  ],
  [
    "exceptions lie within",
    networkPolicy,
    from({ ipBlock: { cidr: "10.0.0.0/8", except: ["11.0.0.0/16"] } }),
    ["Invalid spec.ingress[0].from[0].ipBlock.except[0]"],
  ],
  [
    "a peer is pods or addresses",
    networkPolicy,
    from({ podSelector: {}, ipBlock: { cidr: "10.0.0.0/8" } }),
    ["Forbidden spec.ingress[0].from[0]"],
  ],
  ["a peer is someone", networkPolicy, from({}), ["Required spec.ingress[0].from[0]"]],
  [
    "ranges of ports are in order",
    networkPolicy,
    {
      spec: {
        policyTypes: ["Sideways"],
        ingress: [
          {
            ports: [
              { port: 80, endPort: 79 },
              { port: "name", endPort: 9 },
            ],
          },
        ],
      },
    },
    [
      "Invalid spec.ingress[0].ports[0].endPort",
      "Invalid spec.ingress[0].ports[1].endPort",
      "NotSupported spec.policyTypes[0]",
    ],
  ],
  ["endpoints have addresses", endpoints, { subsets: [{ ports: [{ port: 1 }] }] }, ["Required subsets[0]"]],
  [
    "an address that is none is said twice",
    endpoints,
    address("x"),
    ["Invalid subsets[0].addresses[0].ip", "Invalid subsets[0].addresses[0].ip"],
  ],
  [
    "several ports have names",
    endpoints,
    { subsets: [{ addresses: [{ ip: "192.0.2.1" }], ports: [{ port: 0 }, { port: 2 }] }] },
    [
      "Invalid subsets[0].ports[0].port",
      "Required subsets[0].ports[0].name",
      "Required subsets[0].ports[1].name",
    ],
  ],
  ["a slice has a type", endpointSlice, { endpoints: [] }, ["Required addressType"]],
  [
    "a slice's addresses are of its type",
    endpointSlice,
    slice({ addresses: ["::1"] }),
    ["Invalid endpoints[0].addresses[0]", "Invalid endpoints[0].addresses[0]"],
  ],
  [
    "an endpoint has an address",
    endpointSlice,
    slice({ addresses: [] }),
    ["Required endpoints[0].addresses"],
  ],
  [
    "ports of a slice differ by name",
    endpointSlice,
    { addressType: "IPv4", endpoints: [], ports: [{ port: 1 }, { port: 2 }] },
    ["Duplicate ports[1].name"],
  ],
  [
    "hints name each zone once",
    endpointSlice,
    slice({ addresses: ["192.0.2.1"], hints: { forZones: [{ name: "a" }, { name: "b" }, { name: "a" }] } }),
    ["Duplicate endpoints[0].hints.forZones[2].name"],
  ],
  [
    "a domain has two parts",
    endpointSlice,
    { addressType: "FQDN", endpoints: [{ addresses: ["host"] }] },
    ["Invalid endpoints[0].addresses[0]"],
  ],
];
for (const [name, strategy, sent, causes] of refused)
  test(name, () => assert.deepEqual(tryCreate(strategy, { metadata, ...sent }).causes, causes));

const special = ["127.0.0.1", "169.254.1.1", "224.0.0.1", "0.0.0.0", "::", "::1", "fe80::1", "ff02::1"];
for (const ip of special)
  test(`${ip} cannot be an endpoint`, () => assert.equal(ordinaryIpErrors(ip, "ip").length, 1));
for (const ip of ["192.0.2.2", "2001:db8::1", "224.0.1.1", "::ffff:192.0.2.1"])
  test(`${ip} can be an endpoint`, () => assert.deepEqual(ordinaryIpErrors(ip, "ip"), []));

const parts: [part: string, whole: string, within: boolean][] = [
  ["10.1.0.0/16", "10.0.0.0/8", true],
  ["10.0.0.0/8", "10.0.0.0/8", false],
  ["11.0.0.0/16", "10.0.0.0/8", false],
  ["2001:db8:1::/48", "2001:db8::/32", true],
  ["2001:db9::/48", "2001:db8::/32", false],
  ["10.0.0.0/9", "::/0", false],
];
for (const [part, whole, within] of parts)
  test(`${part} is ${within ? "" : "not "}part of ${whole}`, () =>
    assert.equal(isStrictPart(parseCidr(part)!, parseCidr(whole)!), within));

test("policies hold for what they speak of", () => {
  const types = (spec: object): unknown =>
    (tryCreate(networkPolicy, { metadata, spec }).object["spec"] as { policyTypes: string[] }).policyTypes;
  assert.deepEqual(types({}), ["Ingress"]);
  assert.deepEqual(types({ egress: [{}] }), ["Ingress", "Egress"]);
});

test("what never changes", () => {
  assert.deepEqual(
    tryUpdate(
      ingressClass,
      { metadata, spec: { controller: "a.b/c" } },
      { metadata, spec: { controller: "a.b/d" } },
    ).causes,
    ["Invalid spec.controller"],
  );
  assert.deepEqual(
    tryUpdate(
      endpointSlice,
      { metadata, addressType: "IPv4", endpoints: [] },
      { metadata, addressType: "IPv6", endpoints: [] },
    ).causes,
    ["Invalid addressType"],
  );
});

test("the old way to name a class is warned of", () => {
  const annotated = { name: "x", annotations: { "orch.io/ingress.class": "c" } };
  assert.equal(
    tryCreate(ingress, { metadata: annotated, spec: { defaultBackend: backend } }).warnings.length,
    1,
  );
  assert.deepEqual(
    tryCreate(ingress, { metadata: annotated, spec: { defaultBackend: backend, ingressClassName: "d" } })
      .causes,
    ["Invalid annotations.orch.io/ingress.class"],
  );
});

test("nobody reports on policies yet", () => {
  const conditions = [
    { type: "Seen", status: "True", lastTransitionTime: "2024-01-01T00:00:00Z", reason: "R", message: "" },
  ];
  const plain = { metadata, spec: {} };
  const seen = { ...plain, status: { conditions } };
  const statusOf = ({ object }: { object: Record<string, unknown> }): unknown => object["status"];
  assert.deepEqual(statusOf(tryCreate(networkPolicy, seen)), { conditions });
  assert.deepEqual(statusOf(tryUpdate(networkPolicy, plain, seen)), { conditions });
  assert.deepEqual(statusOf(tryUpdate(networkPolicy, seen, plain)), { conditions });
  assert.deepEqual(statusOf(tryPart(networkPolicy, "status", plain, { status: { conditions } })), {});
  assert.deepEqual(statusOf(tryPart(networkPolicy, "status", seen, { status: {} })), {});
});

test("with their gate policies have a status, which only its own door changes", () => {
  const ctx = contextOf(networkPolicy);
  const gated = { ...ctx, settings: { ...ctx.settings, networkPolicyStatus: true } };
  const conditions = [{ type: "Seen", status: "True" }];
  const seen = { metadata, spec: {}, status: { conditions } } as never;
  const made = { metadata, spec: {}, status: { conditions } };
  networkPolicy.prepareForCreate!(made as never, gated);
  assert.deepEqual(made.status, {});
  const changed = { metadata, spec: {}, status: { conditions } };
  networkPolicy.prepareForUpdate!(changed as never, made as never, gated);
  assert.deepEqual(changed.status, {});
  const { merge } = networkPolicy.subresources!["status"]!;
  assert.deepEqual((merge(seen, made as never, gated) as unknown as typeof changed).status, { conditions });
});

test("tables show the network", () => {
  const rules = ["a", "b", "c", "d"].map((name) => ({ host: `${name}.example.com` }));
  assert.deepEqual(
    cellsOf(ingress, {
      metadata,
      spec: { rules, tls: [{}] },
      status: { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } },
    }),
    [
      "x",
      "<none>",
      "a.example.com,b.example.com,c.example.com + 1 more...",
      "192.0.2.1",
      "80, 443",
      "<unknown>",
    ],
  );
  assert.deepEqual(cellsOf(networkPolicy, { metadata, spec: { podSelector: { matchLabels: { a: "b" } } } }), [
    "x",
    "a=b",
    "<unknown>",
  ]);
  assert.deepEqual(
    cellsOf(endpoints, {
      metadata,
      subsets: [
        {
          addresses: [{ ip: "192.0.2.1" }, { ip: "192.0.2.2" }],
          ports: [
            { port: 1, name: "a" },
            { port: 2, name: "b" },
          ],
        },
      ],
    }),
    ["x", "192.0.2.1:1,192.0.2.2:1,192.0.2.1:2 + 1 more...", "<unknown>"],
  );
  assert.deepEqual(
    cellsOf(endpointSlice, { metadata, addressType: "IPv4", endpoints: [{ addresses: ["192.0.2.1"] }] }),
    ["x", "IPv4", "<unset>", "192.0.2.1", "<unknown>"],
  );
});

test("topology that is forgotten from a slice counts as a change", () => {
  const slice = {
    metadata: { name: "s", generation: 1 },
    addressType: "IPv4",
    endpoints: [{ addresses: ["1.2.3.4"], deprecatedTopology: { a: "b" } }],
  };
  const { object } = tryUpdate(endpointSlice, slice, slice);
  assert.equal((object["metadata"] as { generation?: number }).generation, 2);
  assert.deepEqual(object["endpoints"], [{ addresses: ["1.2.3.4"], conditions: {} }]);
});
