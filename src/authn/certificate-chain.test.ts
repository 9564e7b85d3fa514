import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { test } from "node:test";
import { virtualClock } from "#base";
import { BadCredential } from "./authenticator.ts";
import { clientCertificateVerifier } from "./certificate-chain.ts";
import { crossSigned, entity } from "./cross-signed.fixture.ts";
import { firstVersion } from "./first-version.fixture.ts";
import { createAuthority, signClient } from "./issue.ts";
import { type TrustBundle, trustBundle } from "./trust-bundle.ts";

const now = Date.UTC(2027, 0, 1);
const trusted = createAuthority({ commonName: "trusted" }, { now, days: 365 });
const trust = trustBundle(trusted.certificate, "trusted");
const leaf = entity("leaf");

const times = <T>(count: number, make: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => make(at));

/** Eight authorities with the same name and key, each signed by that key. */
function sameNameAndKey(): X509Certificate[] {
  const authority = entity("ca");
  return [crossSigned(leaf, authority, now), ...times(8, () => crossSigned(authority, authority, now))];
}

/** One name with several keys: only trial verification finds the key that signed a certificate. */
function sameNameOtherKeys(): X509Certificate[] {
  const authorities = times(3, () => entity("ca"));
  const mesh = authorities.flatMap((subject) =>
    authorities.map((issuer) => crossSigned(subject, issuer, now)),
  );
  return [crossSigned(leaf, authorities[0]!, now), ...mesh];
}

/** Several names that all sign each other. */
function mesh(): X509Certificate[] {
  const authorities = times(3, (at) => entity(`ca ${at}`));
  return [
    crossSigned(leaf, authorities[0]!, now),
    ...authorities.flatMap((subject) => authorities.map((issuer) => crossSigned(subject, issuer, now))),
  ];
}

const attacks: [name: string, make: () => X509Certificate[]][] = [
  ["authorities that share a name and a key", sameNameAndKey],
  ["authorities that share a name and have several keys", sameNameOtherKeys],
  ["authorities that all sign each other", mesh],
];
for (const [name, make] of attacks) {
  test(`${name} cost at most 100 signature checks, and no more when repeated`, (t) => {
    const chain = make();
    const verify = t.mock.method(X509Certificate.prototype, "verify");
    const verifier = clientCertificateVerifier({ trust, clock: virtualClock(now) });
    assert.throws(() => verifier.verify(chain), BadCredential);
    const checks = verify.mock.callCount();
    assert.ok(checks <= 100, `${checks} signatures were checked`);
    assert.throws(() => verifier.verify(chain), BadCredential);
    assert.equal(verify.mock.callCount(), checks);
  });
}

test("many trusted authorities with one name exhaust the budget, and the error says so", (t) => {
  const authorities = times(120, () => entity("ca")).map((each) => crossSigned(each, each, now));
  const bundle: TrustBundle = { certificates: () => authorities, pem: () => "" };
  const verify = t.mock.method(X509Certificate.prototype, "verify");
  const verifier = clientCertificateVerifier({ trust: bundle, clock: virtualClock(now) });
  assert.throws(() => verifier.verify([crossSigned(leaf, entity("ca"), now)]), /attempts limit reached/);
  assert.equal(verify.mock.callCount(), 100);
});

test("a failure is cached for a minute or until the trust changes", async () => {
  const authority = entity("ca");
  const [root, user] = [crossSigned(authority, authority, now), crossSigned(leaf, authority, now)];
  let certificates = trust.certificates();
  const clock = virtualClock(now);
  const verifier = clientCertificateVerifier({
    trust: { certificates: () => certificates, pem: () => "" },
    clock,
  });
  assert.throws(() => verifier.verify([user]), /unknown authority/);
  certificates = [root];
  assert.equal(verifier.verify([user]).commonName, "leaf");

  const early = virtualClock(now - 86_400_000 - 30_000);
  const later = clientCertificateVerifier({
    trust: { certificates: () => certificates, pem: () => "" },
    clock: early,
  });
  assert.throws(() => later.verify([user]), /not valid before/);
  await early.advance(61_000);
  assert.equal(later.verify([user]).commonName, "leaf");
});

test("a certificate that seemed expired is accepted a minute later if the clock was set back", async () => {
  const authority = entity("ca");
  const [root, user] = [crossSigned(authority, authority, now), crossSigned(leaf, authority, now)];
  const certificates = [root];
  const clock = virtualClock(now + 10 * 365 * 86_400_000);
  const verifier = clientCertificateVerifier({
    trust: { certificates: () => certificates, pem: () => "" },
    clock,
  });
  assert.throws(() => verifier.verify([user]), /expired/);
  clock.set(now);
  await clock.advance(61_000);
  assert.equal(verifier.verify([user]).commonName, "leaf");
});

test("a path through a cross-signed authority is found among decoys", () => {
  const [top, middle] = [entity("top"), entity("middle")];
  const root = crossSigned(top, top, now);
  const verifier = clientCertificateVerifier({
    trust: { certificates: () => [root], pem: () => "" },
    clock: virtualClock(now),
  });
  const decoys = times(6, () => crossSigned(middle, entity("nobody"), now));
  const chain = [crossSigned(leaf, middle, now), ...decoys, crossSigned(middle, top, now)];
  assert.equal(verifier.verify(chain).commonName, "leaf");
});

test("a certificate of the first version is an authority only where it is trusted itself", () => {
  const validity = { now, days: 365 };
  const old = firstVersion(trusted);
  const client = new X509Certificate(signClient(old, { commonName: "somebody" }, validity).certificate);
  const byOld = clientCertificateVerifier({
    trust: trustBundle(old.certificate, "old"),
    clock: virtualClock(now),
  });
  assert.equal(byOld.verify([client]).commonName, "somebody");
  const higher = createAuthority({ commonName: "higher" }, validity);
  const between = firstVersion(createAuthority({ commonName: "between" }, validity, higher), higher);
  const below = new X509Certificate(signClient(between, { commonName: "somebody" }, validity).certificate);
  const byHigher = clientCertificateVerifier({
    trust: trustBundle(higher.certificate, "higher"),
    clock: virtualClock(now),
  });
  const chain = [below, new X509Certificate(between.certificate)];
  assert.throws(() => byHigher.verify(chain), /which is not an authority/);
});
