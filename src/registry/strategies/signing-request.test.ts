import assert from "node:assert/strict";
import { test } from "node:test";
import { createAuthority } from "#authn";
import type { CertificateSigningRequest } from "#api";
import { requestProblem } from "./rules/certificate-request.ts";
import {
  ecRequest,
  ed25519Request,
  pssRequest,
  rsaRequest,
  sha1Request,
} from "./rules/certificate-requests.fixture.ts";
import { certificateSigningRequest } from "./signing-request.ts";
import { contextOf, tryCreate, tryPart } from "./strategy.fixture.ts";

const metadata = { name: "x" };

const requests: [name: string, pem: string][] = [
  ["rsa", rsaRequest],
  ["elliptic curve", ecRequest],
  ["ed25519", ed25519Request],
  ["SHA-1", sha1Request],
  ["RSASSA-PSS", pssRequest],
];
for (const [name, pem] of requests) {
  test(`a request signed with its ${name} key is accepted`, () => {
    assert.equal(requestProblem(pem), undefined);
    const bytes = Buffer.from(pem.replace(/-----[^-]+-----/g, ""), "base64");
    bytes[bytes.length - 5]! ^= 1;
    assert.notEqual(
      requestProblem(
        `-----BEGIN CERTIFICATE REQUEST-----\n${bytes.toString("base64")}\n-----END CERTIFICATE REQUEST-----\n`,
      ),
      undefined,
    );
  });
}

const requestSpec = {
  request: Buffer.from(ecRequest).toString("base64"),
  signerName: "example.com/s",
  usages: ["client auth"],
};

test("the requesting user is recorded by the server", () => {
  const { object, causes } = tryCreate(certificateSigningRequest, {
    metadata,
    spec: { ...requestSpec, username: "root", groups: ["system:masters"] },
  });
  assert.deepEqual(causes, []);
  const { username, groups } = object["spec"] as { username: string; groups: string[] };
  assert.deepEqual([username, groups], ["tester", ["testers"]]);
});

const wrongRequests: [name: string, given: object, causes: string[]][] = [
  ["a malformed request is refused", { request: "bm9wZQ==" }, ["Invalid spec.request"]],
  ["usages are required", { usages: [] }, ["Required spec.usages"]],
  [
    "unknown and repeated usages are refused",
    { usages: ["client auth", "client auth", "flying"] },
    ["Duplicate spec.usages[1]", "NotSupported spec.usages[2]"],
  ],
  ["a signer name requires a domain", { signerName: "s" }, ["Invalid spec.signerName"]],
  ["the domain of a signer name has two labels", { signerName: "a/s" }, ["Invalid spec.signerName"]],
  ["the legacy signer is refused", { signerName: "orch.io/legacy-unknown" }, ["Invalid spec.signerName"]],
  ["the duration is at least ten minutes", { expirationSeconds: 599 }, ["Invalid spec.expirationSeconds"]],
];
for (const [name, given, causes] of wrongRequests)
  test(name, () =>
    assert.deepEqual(
      tryCreate(certificateSigningRequest, { metadata, spec: { ...requestSpec, ...given } }).causes,
      causes,
    ),
  );

const approved = { type: "Approved", status: "True" };
const updates: [name: string, subresource: string, status: object, causes: string[]][] = [
  ["an approver may approve", "approval", { conditions: [approved] }, []],
  [
    "an approver must not also deny",
    "approval",
    { conditions: [approved, { type: "Denied", status: "True" }] },
    ["Invalid status.conditions[1].type"],
  ],
  [
    "an approval condition must be True",
    "approval",
    { conditions: [{ type: "Approved", status: "False" }] },
    ["NotSupported status.conditions[0].status"],
  ],
  ["a signer must not approve", "status", { conditions: [approved] }, ["Forbidden status.conditions"]],
  [
    "a signer must provide a certificate",
    "status",
    { certificate: Buffer.from("nope").toString("base64") },
    ["Invalid status.certificate"],
  ],
];
for (const [name, subresource, status, causes] of updates)
  test(name, () =>
    assert.deepEqual(
      tryPart(certificateSigningRequest, subresource, { metadata, spec: requestSpec }, { status }).causes,
      causes,
    ),
  );

test("an approval condition gets timestamps", () => {
  const { object } = tryPart(
    certificateSigningRequest,
    "approval",
    { metadata, spec: requestSpec },
    { status: { conditions: [approved] } },
  );
  assert.deepEqual((object["status"] as { conditions: object[] }).conditions, [
    { ...approved, lastUpdateTime: "2024-05-06T07:08:09Z", lastTransitionTime: "2024-05-06T07:08:09Z" },
  ]);
});

const day = 24 * 60 * 60;
const durations: [name: string, spec: object, before: string, expected: [string, boolean][]][] = [
  ["the requested duration", { expirationSeconds: day }, "", [["example.com/s", true]]],
  ["about the requested duration", { expirationSeconds: day + 1300 }, "", [["example.com/s", true]]],
  ["another duration than requested", { expirationSeconds: 3600 }, "", [["example.com/s", false]]],
  ["no requested duration", {}, "", []],
  ["a certificate that was issued before", { expirationSeconds: day }, "there", []],
];
for (const [name, spec, before, expected] of durations)
  test(`issued certificates are observed: ${name}`, () => {
    const { certificate } = createAuthority({ commonName: "x" }, { now: Date.now(), days: 1 });
    const request = (text: string): CertificateSigningRequest =>
      ({
        metadata,
        spec: { ...requestSpec, ...spec },
        status: { certificate: Buffer.from(text).toString("base64") },
      }) as unknown as CertificateSigningRequest;
    const issued: [string, boolean][] = [];
    const context = contextOf(certificateSigningRequest);
    certificateSigningRequest.updated!(request(certificate), request(before), {
      ...context,
      settings: { ...context.settings, certificateIssued: (...each) => void issued.push(each) },
    });
    assert.deepEqual(issued, expected);
  });
