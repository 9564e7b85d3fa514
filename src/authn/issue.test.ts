import assert from "node:assert/strict";
import { X509Certificate, createPrivateKey, sign } from "node:crypto";
import { test } from "node:test";
import { bits, derItems, sequence } from "./der.ts";
import { type CertificatePair, createAuthority, signClient } from "./issue.ts";

const validity = { now: Date.now(), days: 1 };
const authority = createAuthority({ commonName: "authority" }, validity);

/** The same authority with a certificate of the first version, which has neither version nor extensions. */
function firstVersion({ certificate, key }: CertificatePair): CertificatePair {
  const [body, algorithm] = derItems(derItems(new X509Certificate(certificate).raw)[0]!.content);
  const parts = derItems(body!.content).slice(1, 7);
  const old = sequence(...parts.map(({ whole }) => whole));
  const signature = bits(sign("sha256", old, createPrivateKey(key)));
  return { certificate: new X509Certificate(sequence(old, algorithm!.whole, signature)).toString(), key };
}

const authorities: [name: string, authority: CertificatePair][] = [
  ["of the third version", authority],
  ["of the first version", firstVersion(authority)],
];
for (const [name, issuer] of authorities)
  test(`an authority with a certificate ${name} signs certificates`, () => {
    const { certificate } = signClient(issuer, { commonName: "somebody" }, validity);
    const [made, by] = [new X509Certificate(certificate), new X509Certificate(issuer.certificate)];
    assert.equal(made.subject, "CN=somebody");
    assert.equal(made.issuer, "CN=authority");
    assert.ok(made.verify(by.publicKey));
  });
