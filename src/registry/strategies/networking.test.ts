import assert from "node:assert/strict";
import { test } from "node:test";
import type { Strategy } from "../strategy.ts";
import { endpointSlice } from "./endpoint-slice.ts";
import { endpoints } from "./endpoints.ts";
import { ingress, ingressClass } from "./ingress.ts";
import { networkPolicy } from "./network-policy.ts";
import { isStrictPart, ordinaryIpErrors, parseCidr } from "./rules/address.ts";
import { cellsOf, contextOf, tryCreate, tryPart, tryUpdate } from "./strategy.fixture.ts";

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
  ["an ingress needs a backend or rules", ingress, { spec: {} }, ["Invalid spec"]],
  [
    "a path type is required",
    ingress,
    path({ pathType: undefined }),
    ["Required spec.rules[0].http.paths[0].pathType"],
  ],
  [
    "an unknown path type is refused",
    ingress,
    path({ pathType: "X" }),
    ["NotSupported spec.rules[0].http.paths[0].pathType"],
  ],
  ["a path must be absolute", ingress, path({ path: "x" }), ["Invalid spec.rules[0].http.paths[0].path"]],
  [
    "a path must be normalized",
    ingress,
    path({ path: "/a/../b/." }),
    ["Invalid spec.rules[0].http.paths[0].path", "Invalid spec.rules[0].http.paths[0].path"],
  ],
  [
    "an implementation-specific path may be anything",
    ingress,
    path({ path: "/a/../b", pathType: "ImplementationSpecific" }),
    [],
  ],
  ["a host must be a DNS name", ingress, host("A_b"), ["Invalid spec.rules[0].host"]],
  ["a host must not be an IP address", ingress, host("1.2.3.4"), ["Invalid spec.rules[0].host"]],
  ["a host may be a wildcard", ingress, host("*.example.com"), []],
  ["a wildcard must be the first label", ingress, host("a.*.com"), ["Invalid spec.rules[0].host"]],
  [
    "a service backend requires a port",
    ingress,
    { spec: { defaultBackend: { service: { name: "s" } } } },
    ["Required spec.defaultBackend"],
  ],
  [
    "a service backend has a single port",
    ingress,
    { spec: { defaultBackend: { service: { name: "s", port: { number: 1, name: "x" } } } } },
    ["Invalid spec.defaultBackend"],
  ],
  [
    "a backend is either a service or a resource",
    ingress,
    { spec: { defaultBackend: { ...backend, resource: { kind: "K", name: "n" } } } },
    ["Invalid spec.defaultBackend"],
  ],
  [
    "a resource backend may be any kind",
    ingress,
    { spec: { defaultBackend: { resource: { kind: "K", name: "" } } } },
    ["Required spec.defaultBackend.resource.name"],
  ],
  [
    "a controller name requires a domain",
    ingressClass,
    { spec: { controller: "bad ctl" } },
    ["Invalid spec.controller"],
  ],
  [
    "namespaced parameters require a namespace",
    ingressClass,
    { spec: { controller: "a.b/c", parameters: { kind: "K", name: "n", scope: "Namespace" } } },
    ["Required spec.parameters.namespace"],
  ],
  [
    "exceptions must be within the CIDR",
    networkPolicy,
    from({ ipBlock: { cidr: "10.0.0.0/8", except: ["11.0.0.0/16"] } }),
    ["Invalid spec.ingress[0].from[0].ipBlock.except[0]"],
  ],
  [
    "a peer is either a selector or an IP block",
    networkPolicy,
    from({ podSelector: {}, ipBlock: { cidr: "10.0.0.0/8" } }),
    ["Forbidden spec.ingress[0].from[0]"],
  ],
  ["an empty peer is refused", networkPolicy, from({}), ["Required spec.ingress[0].from[0]"]],
  [
    "a port range must be ordered",
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
  [
    "endpoints require addresses",
    endpoints,
    { subsets: [{ ports: [{ port: 1 }] }] },
    ["Required subsets[0]"],
  ],
  [
    "a malformed address is reported twice",
    endpoints,
    address("x"),
    ["Invalid subsets[0].addresses[0].ip", "Invalid subsets[0].addresses[0].ip"],
  ],
  [
    "several ports require names",
    endpoints,
    { subsets: [{ addresses: [{ ip: "192.0.2.1" }], ports: [{ port: 0 }, { port: 2 }] }] },
    [
      "Invalid subsets[0].ports[0].port",
      "Required subsets[0].ports[0].name",
      "Required subsets[0].ports[1].name",
    ],
  ],
  ["the address type of a slice is required", endpointSlice, { endpoints: [] }, ["Required addressType"]],
  [
    "addresses must match the address type",
    endpointSlice,
    slice({ addresses: ["::1"] }),
    ["Invalid endpoints[0].addresses[0]", "Invalid endpoints[0].addresses[0]"],
  ],
  [
    "an endpoint requires an address",
    endpointSlice,
    slice({ addresses: [] }),
    ["Required endpoints[0].addresses"],
  ],
  [
    "port names of a slice are unique",
    endpointSlice,
    { addressType: "IPv4", endpoints: [], ports: [{ port: 1 }, { port: 2 }] },
    ["Duplicate ports[1].name"],
  ],
  [
    "zones of hints are unique",
    endpointSlice,
    slice({ addresses: ["192.0.2.1"], hints: { forZones: [{ name: "a" }, { name: "b" }, { name: "a" }] } }),
    ["Duplicate endpoints[0].hints.forZones[2].name"],
  ],
  [
    "a domain name has two labels",
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
  test(`${part} is ${within ? "" : "not "}a subnet of ${whole}`, () =>
    assert.equal(isStrictPart(parseCidr(part)!, parseCidr(whole)!), within));

test("policy types default from the rules", () => {
  const types = (spec: object): unknown =>
    (tryCreate(networkPolicy, { metadata, spec }).object["spec"] as { policyTypes: string[] }).policyTypes;
  assert.deepEqual(types({}), ["Ingress"]);
  assert.deepEqual(types({ egress: [{}] }), ["Ingress", "Egress"]);
});

test("immutable fields", () => {
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

test("the deprecated class annotation gets a warning", () => {
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

test("the status of network policies is disabled by default", () => {
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

test("with the gate on, the status of network policies changes only through its subresource", () => {
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

test("table rows of networking kinds", () => {
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

test("dropping the deprecated topology of a slice increments the generation", () => {
  const slice = {
    metadata: { name: "s", generation: 1 },
    addressType: "IPv4",
    endpoints: [{ addresses: ["1.2.3.4"], deprecatedTopology: { a: "b" } }],
  };
  const { object } = tryUpdate(endpointSlice, slice, slice);
  assert.equal((object["metadata"] as { generation?: number }).generation, 2);
  assert.deepEqual(object["endpoints"], [{ addresses: ["1.2.3.4"], conditions: {} }]);
});
