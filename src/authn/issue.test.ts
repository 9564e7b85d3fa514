import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { test } from "node:test";
import { firstVersion } from "./first-version.fixture.ts";
import { type CertificatePair, createAuthority, signClient } from "./issue.ts";

const validity = { now: Date.now(), days: 1 };
const authority = createAuthority({ commonName: "authority" }, validity);

const authorities: [name: string, authority: CertificatePair][] = [
  ["of version 3", authority],
  ["of version 1", firstVersion(authority)],
];
for (const [name, issuer] of authorities)
  test(`an authority with a certificate ${name} signs certificates`, () => {
    const { certificate } = signClient(issuer, { commonName: "somebody" }, validity);
    const [made, by] = [new X509Certificate(certificate), new X509Certificate(issuer.certificate)];
    assert.equal(made.subject, "CN=somebody");
    assert.equal(made.issuer, "CN=authority");
    assert.ok(made.verify(by.publicKey));
  });
