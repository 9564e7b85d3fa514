import assert from "node:assert/strict";
import { test } from "node:test";
import type { CertificateRequest } from "#authn";
import { timeOfMillis } from "#base";
import { dialects } from "#dialect";
import { type SeenRequest, signerProblem } from "./requests.ts";
import { isStale, validityOf } from "./signing.ts";

const dialect = dialects.orch;
const { apiClient, agentClient, agentServing, legacyUnknown } = dialect.names.signers;
const empty = new Uint8Array();
const node: CertificateRequest = {
  commonName: "system:node:a",
  organizations: ["system:nodes"],
  dnsNames: [],
  ipAddresses: [],
  emails: [],
  uris: [],
  subject: empty,
  alternativeNames: undefined,
  publicKey: empty,
  isSigned: true,
};
const clientAuth = ["digital signature", "key encipherment", "client auth"];
const serverAuth = ["digital signature", "key encipherment", "server auth"];
const named = { ...node, dnsNames: ["a"] };
const notNodes = "subject organization is not system:nodes";
const notNode = "subject common name does not begin with system:node:";

const refusals: [
  name: string,
  signer: string,
  request: CertificateRequest,
  usages: string[],
  problem: string | undefined,
][] = [
  ["a node's client", agentClient, node, clientAuth, undefined],
  ["a node's client without RSA", agentClient, node, ["client auth", "digital signature"], undefined],
  [
    "a node's client without a signature",
    agentClient,
    node,
    ["client auth"],
    "usages did not match [client auth digital signature key encipherment]",
  ],
  ["a node's client with a name", agentClient, named, clientAuth, "DNS subjectAltNames are not allowed"],
  ["a client that is not a node", agentClient, { ...node, commonName: "a" }, clientAuth, notNode],
  ["a client of another group", agentClient, { ...node, organizations: ["ops"] }, clientAuth, notNodes],
  ["a node's server", agentServing, named, serverAuth, undefined],
  ["a node's server without a name", agentServing, node, serverAuth, "DNS or IP subjectAltName is required"],
  [
    "a server whose usages and name are wrong",
    agentServing,
    { ...named, commonName: "a" },
    clientAuth,
    "usages did not match [digital signature key encipherment server auth]",
  ],
  ["a server that is not a node", agentServing, { ...named, commonName: "a" }, serverAuth, notNode],
  ["any client", apiClient, named, ["client auth"], undefined],
  [
    "a client with server usage",
    apiClient,
    node,
    ["server auth"],
    "invalid usage for client certificate: server auth",
  ],
  [
    "a client without client usage",
    apiClient,
    node,
    ["digital signature"],
    "missing required usage for client certificate: client auth",
  ],
  ["a legacy client", legacyUnknown, node, ["any"], undefined],
];
for (const [name, signer, request, usages, problem] of refusals)
  test(`signers: ${name} is ${problem === undefined ? "signed" : `rejected: ${problem}`}`, () =>
    assert.equal(signerProblem(signer, request, usages, dialect), problem));

const hour = 3_600_000;
const now = Date.UTC(2030, 0, 1);
const request = (ageHours: number, type?: string, decidedHours = 0, certificate?: string): SeenRequest =>
  ({
    metadata: { creationTimestamp: timeOfMillis(now - ageHours * hour) },
    spec: {},
    status: {
      conditions: type ? [{ type, lastUpdateTime: timeOfMillis(now - decidedHours * hour) }] : [],
      ...(certificate && { certificate }),
    },
  }) as unknown as SeenRequest;

const ages: [name: string, request: SeenRequest, stale: boolean][] = [
  ["a pending request of 23 hours is kept", request(23), false],
  ["a pending request of 25 hours is deleted", request(25), true],
  ["a request denied two hours ago is deleted", request(3, "Denied", 2), true],
  ["a request denied recently is kept", request(30, "Denied", 0.5), false],
  ["a request failed two hours ago is deleted", request(3, "Failed", 2), true],
  ["an approved request without a certificate is kept", request(48, "Approved", 47), false],
  ["a request signed two hours ago is deleted", request(3, "Approved", 2, "eA=="), true],
  ["a request signed recently is kept", request(3, "Approved", 0.5, "eA=="), false],
];
for (const [name, seen, stale] of ages) test(name, () => assert.equal(isStale(seen, now), stale));

const validities: [name: string, seconds: number, authorityExpiry: number, notAfter: number][] = [
  ["is valid for its lifetime if that is short", 3600, 100 * hour, hour],
  ["is backdated as a whole if its lifetime is long", 36_000, 100 * hour, 10 * hour - 300_000],
  ["does not outlive the CA", 3600, hour / 2, hour / 2],
  ["is signed until the CA has expired for as long as it is backdated", 3600, -299_999, -299_999],
];
for (const [name, seconds, authorityExpiry, notAfter] of validities)
  test(`a certificate ${name}`, () =>
    assert.deepEqual(validityOf(seconds, authorityExpiry, 0), { notBefore: -300_000, notAfter }));

test("nothing is signed by an expired CA", () =>
  assert.throws(() => validityOf(3600, -300_000, 0), /^Error: the signer has expired: NotAfter=1969-/));
