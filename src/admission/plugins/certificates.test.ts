import assert from "node:assert/strict";
import { test } from "node:test";
import { requestedOrganizations } from "#authn";
import type { Authorizer } from "#authz";
import { dialects, groupName } from "#dialect";
import type { AdmissionAttributes } from "../attributes.ts";
import { attributesOf, resultOrCode } from "../attributes.fixture.ts";
import { certificatePlugins } from "./certificates.ts";

// Requests O=system:masters, O=dev, CN=x; its key was not kept.
const pem = `-----BEGIN CERTIFICATE REQUEST-----
MIHtMIGVAgEAMDMxFzAVBgNVBAoMDnN5c3RlbTptYXN0ZXJzMQwwCgYDVQQKDANk
ZXYxCjAIBgNVBAMMAXgwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAReTWGftZci
1ww7f0oXyTAG8D1QprwXGRU0xqqfsloHO+xU1SY+Vgkufm7o+loYcNDKnlqZSUDF
PLUUWH8+5hRgoAAwCgYIKoZIzj0EAwIDRwAwRAIgY3PxgzjEvWRyI7eWv+MgDkL1
L1XksuZ0hJsEWi1mmnMCID1KsUN6TvTkNxh+wNPhLA5o1XlRXxdm6P1FtUCFp5XS
-----END CERTIFICATE REQUEST-----
`;
const request = Buffer.from(pem).toString("base64");

test("organizations are read from a request", () =>
  assert.deepEqual(requestedOrganizations(pem), ["system:masters", "dev"]));
test("a malformed request is an error", () => assert.throws(() => requestedOrganizations("x")));

const dialect = dialects.orch;
const { apiClient, agentClient } = dialect.names.signers;
const group = groupName(dialect, { group: "certificates", branded: true });

/** An authorizer that allows only these signers, without caching. */
const allowing = (verb: string, ...signers: string[]): Authorizer => ({
  decide: ({ verb: requestFor, resource }) => ({
    verdict:
      requestFor === verb &&
      resource?.resource === "signers" &&
      resource.group === group &&
      signers.includes(resource.name)
        ? "allow"
        : "no opinion",
    reason: "",
  }),
  rulesFor: () => ({ resourceRules: [], nonResourceRules: [], incomplete: false }),
});

async function outcome(
  plugin: string,
  authorizer: Authorizer,
  more: Partial<AdmissionAttributes>,
): Promise<string> {
  const attributes = attributesOf({
    operation: "UPDATE",
    resource: { group, version: "v1", resource: "certificatesigningrequests" },
    kind: { group, version: "v1", kind: "CertificateSigningRequest" },
    namespace: "",
    name: "r",
    ...more,
  });
  return await resultOrCode(async () => {
    await certificatePlugins(dialect, authorizer).find(({ name }) => name === plugin)!.validate!(attributes);
    return "allowed";
  });
}
const requestFor = (signerName: string, status: object = {}): Record<string, unknown> => ({
  spec: { signerName, request },
  status,
});
const change = (subresource: string, now: object, old: object = {}): Partial<AdmissionAttributes> => ({
  subresource,
  object: requestFor("a.b/c", now),
  oldObject: requestFor("a.b/c", old),
});
const bundle = (signerName?: string): Partial<AdmissionAttributes> => ({
  resource: { group, version: "v1alpha1", resource: "clustertrustbundles" },
  subresource: "",
  object: { spec: { signerName, trustBundle: "" } },
});
const condition = { conditions: [{ type: "Failed", status: "True" }] };

const cases: [
  name: string,
  plugin: string,
  authorizer: Authorizer,
  attributes: Partial<AdmissionAttributes>,
  expected: string,
][] = [
  [
    "a user authorized for the signer may approve",
    "CertificateApproval",
    allowing("approve", "a.b/c"),
    change("approval", condition),
    "allowed",
  ],
  [
    "a user authorized for the signer's domain may approve",
    "CertificateApproval",
    allowing("approve", "a.b/*"),
    change("approval", condition),
    "allowed",
  ],
  [
    "a user authorized for another signer may not approve",
    "CertificateApproval",
    allowing("approve", "a.b/d"),
    change("approval", condition),
    "403",
  ],
  [
    "permission to sign does not permit approval",
    "CertificateApproval",
    allowing("sign", "a.b/c"),
    change("approval", condition),
    "403",
  ],
  [
    "a status update needs no permission to approve",
    "CertificateApproval",
    allowing("none"),
    change("status", condition),
    "allowed",
  ],
  [
    "a user authorized for the signer may set the certificate",
    "CertificateSigning",
    allowing("sign", "a.b/c"),
    change("status", { certificate: "x" }),
    "allowed",
  ],
  [
    "other users may not set the certificate",
    "CertificateSigning",
    allowing("approve", "a.b/c"),
    change("status", { certificate: "x" }),
    "403",
  ],
  [
    "other users may not add a Failed condition",
    "CertificateSigning",
    allowing("none"),
    change("status", condition),
    "403",
  ],
  [
    "a status without changes needs no authorization",
    "CertificateSigning",
    allowing("none"),
    change("status", condition, condition),
    "allowed",
  ],
  [
    "a client certificate for system:masters is refused",
    "CertificateSubjectRestriction",
    allowing("none"),
    { operation: "CREATE", object: requestFor(apiClient) },
    "403",
  ],
  [
    "other signers may issue certificates for system:masters",
    "CertificateSubjectRestriction",
    allowing("none"),
    { operation: "CREATE", object: requestFor(agentClient) },
    "allowed",
  ],
  [
    "a bundle without a signer needs no authorization",
    "ClusterTrustBundleAttest",
    allowing("none"),
    bundle(),
    "allowed",
  ],
  [
    "a user authorized for the signer may write its bundles",
    "ClusterTrustBundleAttest",
    allowing("attest", "a.b/c"),
    bundle("a.b/c"),
    "allowed",
  ],
  [
    "a user authorized for the signer's domain may write its bundles",
    "ClusterTrustBundleAttest",
    allowing("attest", "a.b/*"),
    bundle("a.b/c"),
    "allowed",
  ],
  [
    "other users may not write its bundles",
    "ClusterTrustBundleAttest",
    allowing("sign", "a.b/c"),
    bundle("a.b/c"),
    "403",
  ],
  [
    "other users may not even update a bundle without changes",
    "ClusterTrustBundleAttest",
    allowing("none"),
    { ...bundle("a.b/c"), oldObject: bundle("a.b/c").object! },
    "403",
  ],
];
for (const [name, plugin, authorizer, attributes, expected] of cases)
  test(name, async () => assert.equal(await outcome(plugin, authorizer, attributes), expected));
