import assert from "node:assert/strict";
import { test } from "node:test";
import { createAuthority, signClient } from "#authn";
import type { Strategy } from "../strategy.ts";
import { clusterCidr } from "./cluster-cidr.ts";
import { ipAddress } from "./ip-address.ts";
import { storageVersion } from "./storage-version.ts";
import { clusterTrustBundle } from "./trust-bundle.ts";
import { cellsOf, contextOf, defaulted, tryCreate, tryPart, tryUpdate } from "./strategy.fixture.ts";

const validity = { now: Date.parse("2024-01-01T00:00:00Z"), days: 3650 };
const authority = createAuthority({ commonName: "a" }, validity);
const other = createAuthority({ commonName: "b" }, validity).certificate;
const leaf = signClient(authority, { commonName: "c" }, validity).certificate;
const anchor = authority.certificate;

const bundle = (trustBundle: string, signerName?: string): object => ({
  metadata: { name: "x" },
  spec: { trustBundle, ...(signerName !== undefined && { signerName }) },
});
const detailsOf = (strategy: Strategy, sent: object): (string | undefined)[] =>
  strategy.validate!(defaulted(strategy, sent), contextOf(strategy)).map(({ detail }) => detail);

const anchors: [name: string, pem: string, details: RegExp[]][] = [
  ["CA certificates are accepted", `${anchor}text\n${other}`, []],
  ["a trust anchor is required", "", [/at least one trust anchor must be provided/]],
  [
    "a duplicate trust anchor is refused",
    anchor + other + anchor,
    [/duplicate trust anchor \(indices \[0 2\]\)/],
  ],
  ["a certificate without the CA bit is refused", anchor + leaf, [/entry 1 does not have the CA bit set/]],
  [
    "another PEM block type is refused",
    anchor.replaceAll("CERTIFICATE", "KEY"),
    [/entry 0 has bad block type: KEY/],
  ],
  [
    "PEM headers are refused",
    anchor.replace("-----\n", "-----\nA: b\n\n"),
    [/entry 0 has PEM block headers/],
  ],
  [
    "a malformed certificate is refused",
    "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
    [/entry 0 does not parse as X.509/],
  ],
];
for (const [name, pem, details] of anchors)
  test(name, () => {
    const found = detailsOf(clusterTrustBundle, bundle(pem));
    assert.equal(found.length, details.length);
    details.forEach((detail, position) => assert.match(found[position]!, detail));
  });

const named: [name: string, signer: string | undefined, good: boolean][] = [
  ["a", undefined, true],
  ["a:b", undefined, false],
  ["example.com:s:v1", "example.com/s", true],
  ["v1", "example.com/s", false],
  ["example.com:s:V1", "example.com/s", false],
];
for (const [name, signer, good] of named)
  test(`a bundle of ${signer ?? "no signer"} ${good ? "may" : "must not"} be named ${name}`, () => {
    const object = defaulted(clusterTrustBundle, bundle(anchor, signer));
    assert.equal(clusterTrustBundle.nameRule!(object)(name).length === 0, good);
  });

test("the signer of a bundle is immutable, and unchanged anchors are not validated again", () => {
  const before = bundle("not PEM", "example.com/s");
  assert.deepEqual(tryUpdate(clusterTrustBundle, before, before).causes, []);
  assert.deepEqual(tryUpdate(clusterTrustBundle, before, bundle("not PEM either", "example.com/s")).causes, [
    "Invalid spec.trustBundle",
  ]);
  assert.deepEqual(tryUpdate(clusterTrustBundle, before, bundle("not PEM", "example.com/t")).causes, [
    "Invalid spec.signerName",
  ]);
  const old = defaulted(clusterTrustBundle, before);
  assert.deepEqual(clusterTrustBundle.fields!(old), { "spec.signerName": "example.com/s" });
  assert.deepEqual(cellsOf(clusterTrustBundle, bundle(anchor)), ["x", "<none>"]);
});

const terms = [{ matchExpressions: [{ key: "a", operator: "In", values: ["b", "c"] }] }];
const blocks: [name: string, spec: object, causes: string[]][] = [
  ["a single CIDR is sufficient", { ipv4: "10.0.0.0/16", perNodeHostBits: 8 }, []],
  ["a CIDR is required", {}, ["Required spec"]],
  ["a malformed CIDR is refused", { ipv4: "x", perNodeHostBits: 8 }, ["Invalid spec.IPv4"]],
  [
    "a CIDR of the wrong family is refused",
    { ipv4: "fd00::/30", perNodeHostBits: 4 },
    ["Invalid spec.IPv4", "Invalid spec.perNodeHostBits"],
  ],
  [
    "too few host bits are refused",
    { ipv6: "fd00::/64", perNodeHostBits: 3 },
    ["Invalid spec.perNodeHostBits"],
  ],
  [
    "more host bits than the CIDR has are refused",
    { ipv4: "10.0.0.0/28", perNodeHostBits: 8 },
    ["Invalid spec.perNodeHostBits"],
  ],
  [
    "a node selector needs terms",
    { ipv4: "10.0.0.0/16", perNodeHostBits: 8, nodeSelector: {} },
    ["Required spec.nodeSelector.nodeSelectorTerms"],
  ],
];
for (const [name, spec, causes] of blocks)
  test(`cluster CIDR: ${name}`, () =>
    assert.deepEqual(tryCreate(clusterCidr, { metadata: { name: "x" }, spec }).causes, causes));

test("a cluster CIDR is immutable, and its table row shows the node selector", () => {
  const before = { metadata: { name: "x" }, spec: { ipv4: "10.0.0.0/16", perNodeHostBits: 8 } };
  const after = {
    spec: { ipv4: "10.1.0.0/16", perNodeHostBits: 9, nodeSelector: { nodeSelectorTerms: terms } },
  };
  assert.deepEqual(tryUpdate(clusterCidr, before, { ...before, ...after }).causes, [
    "Invalid spec.ipv4",
    "Invalid spec.nodeSelector",
    "Invalid spec.perNodeHostBits",
  ]);
  assert.deepEqual(cellsOf(clusterCidr, { ...before, ...after }).slice(1), [
    "9",
    "10.1.0.0/16",
    "<none>",
    "<unknown>",
    "MatchExpressions: [{a In [b c]}]",
  ]);
});

const addresses: [name: string, problems: number][] = [
  ["10.0.0.1", 0],
  ["2001:db8::1", 0],
  ["::ffff:1.2.3.4", 0],
  ["2001:DB8::1", 1],
  ["::ffff:102:304", 1],
  ["10.01.0.1", 1],
  ["x", 1],
];
for (const [name, problems] of addresses)
  test(`${name} is ${problems ? "an invalid" : "a valid"} IP address name`, () =>
    assert.equal(ipAddress.validateName!(name).length, problems));

test("an IP address requires a parent, which is immutable", () => {
  const parentRef = { group: "apps", resource: "Deployments", namespace: "n", name: "d" };
  const owned = (ref?: object): object => ({
    metadata: { name: "10.0.0.1" },
    spec: ref ? { parentRef: ref } : {},
  });
  assert.deepEqual(tryCreate(ipAddress, owned()).causes, ["Required spec.parentRef"]);
  assert.deepEqual(tryCreate(ipAddress, owned({ group: "A", namespace: "/" })).causes, [
    "Invalid spec.parentRef.group",
    "Invalid spec.parentRef.namespace",
    "Required spec.parentRef.name",
    "Required spec.parentRef.resource",
  ]);
  assert.deepEqual(tryUpdate(ipAddress, owned(parentRef), owned({ ...parentRef, name: "e" })).causes, [
    "Invalid spec.parentRef",
  ]);
  assert.deepEqual(cellsOf(ipAddress, owned(parentRef)), ["10.0.0.1", "deployments.apps/n/d", "<unknown>"]);
});

const server = (apiServerID: string, encodingVersion: string, ...decodableVersions: string[]): object => ({
  apiServerID,
  encodingVersion,
  decodableVersions,
});
const reported: [name: string, status: object, causes: string[]][] = [
  [
    "servers with the same version have a common one",
    { storageVersions: [server("a", "apps/v1", "apps/v1")], commonEncodingVersion: "apps/v1" },
    [],
  ],
  [
    "a common version needs a server",
    { commonEncodingVersion: "v1" },
    ["Invalid status.commonEncodingVersion"],
  ],
  [
    "servers with different versions have no common one",
    {
      storageVersions: [server("a", "v1", "v1"), server("b", "v2", "v2")],
      commonEncodingVersion: "v1",
    },
    ["Invalid status.commonEncodingVersion"],
  ],
  [
    "the encoding version must be decodable",
    { storageVersions: [server("a", "v1", "v2")], commonEncodingVersion: "v1" },
    ["Invalid status.storageVersions[0].decodableVersions"],
  ],
  [
    "versions must be well-formed",
    { storageVersions: [server("a", "A/b/c", "A/b/c", "/")], commonEncodingVersion: "A/b/c" },
    [
      "Invalid status.storageVersions[0].decodableVersions[0]",
      "Invalid status.storageVersions[0].decodableVersions[1]",
      "Invalid status.storageVersions[0].encodingVersion",
    ],
  ],
  [
    "condition types are unique, reason and message are required",
    {
      conditions: [
        { type: "x", status: "True", reason: "" },
        { type: "x", status: "True", reason: "r", message: "m" },
      ],
    },
    ["Invalid status[1].type", "Required status[0].message", "Required status[0].reason"],
  ],
];
for (const [name, status, causes] of reported)
  test(`storage versions: ${name}`, () =>
    assert.deepEqual(
      tryPart(storageVersion, "status", { metadata: { name: "core.pods" } }, { status }).causes,
      causes,
    ));

test("a storage version is named after its resource, and its table row shows three servers", () => {
  const problems = ["pods", "core.pods", "A.pods", "core.1"].map(
    (name) => storageVersion.validateName!(name).length,
  );
  assert.deepEqual(problems, [1, 0, 1, 1]);
  const storageVersions = ["a", "b", "c", "d"].map((id) => server(id, "v1", "v1"));
  const cells = (status: object) => cellsOf(storageVersion, { metadata: { name: "core.pods" }, status });
  assert.deepEqual(cells({ storageVersions, commonEncodingVersion: "v1" }).slice(1, 3), [
    "v1",
    "a=v1,b=v1,c=v1 + 1 more...",
  ]);
  assert.deepEqual(cells({}).slice(1, 3), ["<unset>", "<unset>"]);
});
