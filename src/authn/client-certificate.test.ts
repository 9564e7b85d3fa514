import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { createMetrics, virtualClock } from "#base";
import { BadCredential, type Credentials } from "./authenticator.ts";
import { clientCertificateVerifier } from "./certificate-chain.ts";
import { certificateExpirationMetric, clientCertificates } from "./client-certificate.ts";
import { derItems, oidText } from "./der.ts";
import {
  type CertificatePair,
  createAuthority,
  selfSigned,
  signClient,
  signServing,
  isPairUsable,
  writePair,
} from "./issue.ts";
import { requestHeaders } from "./request-header.ts";
import { certificatesOf, trustBundle, trustBundleFile } from "./trust-bundle.ts";

const directory = mkdtempSync(join(tmpdir(), "certificates-"));
after(() => rmSync(directory, { recursive: true }));
const now = Date.UTC(2027, 0, 1);
const year = { now, days: 365 };
const root = createAuthority({ commonName: "root" }, year);
const other = createAuthority({ commonName: "root" }, year);
const carol = signClient(root, { commonName: "carol", organizations: ["dev", "ops"] }, year);
const serving = signServing(
  root,
  { commonName: "server" },
  ["localhost", "127.0.0.1", "::1", "2001:db8::a:0:b"],
  year,
);
const short = signClient(root, { commonName: "short" }, { now, days: 1 });
const mallory = signClient(other, { commonName: "mallory", organizations: ["system:masters"] }, year);
const notAnAuthority = signClient(carol, { commonName: "eve" }, year);
const nameless = signClient(root, { commonName: "" }, year);

const chain = (...pairs: CertificatePair[]): X509Certificate[] =>
  pairs.map(({ certificate }) => new X509Certificate(certificate));
const presents = (...pairs: CertificatePair[]): Credentials => ({
  headers: () => [],
  headerNames: () => [],
  certificates: chain(...pairs),
});
const users = (at = now) =>
  clientCertificates(
    clientCertificateVerifier({ trust: trustBundle(root.certificate, "root"), clock: virtualClock(at) }),
  );

test("a certificate of a trusted authority names the user and its groups", async () => {
  assert.deepEqual((await users().authenticate(presents(carol)))?.user, {
    name: "carol",
    groups: ["dev", "ops"],
  });
});
test("the remaining validity is recorded for each request with a valid certificate", async () => {
  const [metrics, clock] = [createMetrics(), virtualClock(now)];
  const method = clientCertificates(
    clientCertificateVerifier({ trust: trustBundle(root.certificate, "root"), clock }),
    certificateExpirationMetric(metrics, clock),
  );
  for (const pair of [carol, short, short]) await method.authenticate(presents(pair));
  await assert.rejects(async () => method.authenticate(presents(mallory)));
  const counts = [...metrics.expose().matchAll(/_bucket\{le="(.*?)"\} (\d+)/g)].map(([, limit, count]) => [
    limit,
    count,
  ]);
  // prettier-ignore
  assert.deepEqual(counts.filter(([limit]) => ["43200", "86400", "1.5552e+07", "+Inf"].includes(limit!)), [["43200", "0"], ["86400", "2"], ["1.5552e+07", "2"], ["+Inf", "3"]]);
});

const refused: [name: string, presented: CertificatePair[], at: number, why: RegExp][] = [
  ["of another authority with the same name", [mallory], now, /unknown authority/],
  ["of an untrusted authority that is sent along", [mallory, other], now, /unknown authority/],
  ["that is meant for serving", [serving], now, /not meant for client/],
  ["that has expired", [short], now + 2 * 86_400_000, /expired/],
  ["that is not valid yet", [carol], now - 86_400_000, /not valid before/],
  ["that was signed by a client", [notAnAuthority, carol], now, /not an authority|unknown authority/],
];
for (const [name, presented, at, why] of refused) {
  test(`a certificate ${name} is a bad credential`, async () => {
    await assert.rejects(
      async () => users(at).authenticate(presents(...presented)),
      (error: Error) => error instanceof BadCredential && why.test(error.message),
    );
  });
}
test("an intermediate authority must be sent by the client", async () => {
  const middle = createAuthority({ commonName: "middle" }, year, root);
  const dave = signClient(middle, { commonName: "dave" }, year);
  const method = users();
  await assert.rejects(async () => method.authenticate(presents(dave)), /unknown authority/);
  assert.equal((await method.authenticate(presents(dave, other, middle)))?.user.name, "dave");
});
test("with a key for it, the user has the fingerprint of the certificate as an attribute", async () => {
  const verifier = clientCertificateVerifier({
    trust: trustBundle(root.certificate, "root"),
    clock: virtualClock(now),
  });
  const method = clientCertificates(verifier, undefined, "credential-id");
  const [{ fingerprint256 }] = chain(carol) as [X509Certificate];
  assert.deepEqual((await method.authenticate(presents(carol)))?.user.extra, {
    "credential-id": [`X509SHA256=${fingerprint256.replaceAll(":", "").toLowerCase()}`],
  });
});
test("a missing certificate and one without a name yield no identity", async () => {
  assert.equal(await users().authenticate(presents()), undefined);
  assert.equal(await users().authenticate(presents(nameless)), undefined);
});
test("a cached certificate still expires", async () => {
  const clock = virtualClock(now);
  const method = clientCertificates(
    clientCertificateVerifier({ trust: trustBundle(root.certificate, "root"), clock }),
  );
  const presented = presents(short);
  assert.equal(await method.authenticate(presented), await method.authenticate(presented));
  await clock.advance(2 * 86_400_000);
  await assert.rejects(async () => method.authenticate(presented), /expired/);
});

test("a replaced bundle ends the trust, an invalid one is reported and ignored", async () => {
  const file = join(directory, "ca.pem");
  writeFileSync(file, root.certificate);
  const clock = virtualClock(now);
  const trust = trustBundleFile(file);
  const method = clientCertificates(clientCertificateVerifier({ trust, clock }));
  assert.ok(await method.authenticate(presents(carol)));
  const changes: string[] = [];
  let observed = (): void => undefined;
  const stop = trust.follow(clock, 1000, (change) => {
    changes.push("changed" in change ? "changed" : (change.error as Error).message);
    observed();
  });
  const tick = async (): Promise<void> => {
    const reported = new Promise<void>((resolve) => (observed = resolve));
    await clock.advance(1000);
    await reported;
    await new Promise((resolve) => setImmediate(resolve));
  };
  writeFileSync(file, "nothing here");
  await tick();
  assert.ok(await method.authenticate(presents(carol)));
  writeFileSync(file, other.certificate);
  await tick();
  stop();
  assert.deepEqual(changes, [
    `${file}: no certificate found (expected PEM text with a CERTIFICATE block)`,
    "changed",
  ]);
  await assert.rejects(async () => method.authenticate(presents(carol)), BadCredential);
  assert.ok(await method.authenticate(presents(mallory)));
});
test("an invalid certificate is reported with its position", () => {
  const text = `${root.certificate}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`;
  assert.throws(() => certificatesOf(text, "ca.pem"), /^Error: ca.pem: certificate 2 cannot be read/);
});

test("a serving certificate is valid for all its names and no other", () => {
  const certificate = new X509Certificate(serving.certificate);
  assert.equal(certificate.checkHost("localhost"), "localhost");
  for (const address of ["127.0.0.1", "::1", "2001:db8::a:0:b"])
    assert.equal(certificate.checkIP(address), address);
  assert.equal(certificate.checkIP("127.0.0.2"), undefined);
  assert.equal(certificate.ca, false);
});
test("a self-signed pair is its own authority and is valid until it expires", () => {
  const pair = selfSigned({ commonName: "me@1" }, ["localhost"], { now, days: 365 });
  const certificate = new X509Certificate(pair.certificate);
  assert.ok(
    certificate.ca && certificate.verify(certificate.publicKey) && certificate.checkIssued(certificate),
  );
  assert.equal(isPairUsable(pair, ["localhost"], now, 0), true);
  assert.equal(isPairUsable(pair, ["localhost", "10.0.0.1"], now, 0), false);
  assert.equal(isPairUsable(pair, ["localhost"], now + 366 * 86_400_000, 0), false);
  assert.equal(isPairUsable({ certificate: pair.certificate, key: root.key }, [], now, 0), false);
});
test("a certificate past 2049 keeps its year", () => {
  const pair = selfSigned({ commonName: "late" }, [], { now, days: 36_500 });
  assert.equal(new X509Certificate(pair.certificate).validToDate.getUTCFullYear(), 2126);
});
test("a key that is not the authority's is refused", () => {
  assert.throws(
    () => signClient({ certificate: root.certificate, key: other.key }, { commonName: "x" }, year),
    /does not belong/,
  );
});
test("written pairs are readable by their owner only", () => {
  const files = [join(directory, "new", "tls.crt"), join(directory, "new", "tls.key")] as const;
  writePair(carol, ...files);
  for (const file of files) assert.equal(statSync(file).mode & 0o777, 0o600);
});
test("truncated DER is refused, not misread", () => {
  const { raw } = new X509Certificate(root.certificate);
  for (const cut of [1, 3, raw.length - 1])
    assert.throws(() => derItems(raw.subarray(0, cut)), /data truncated/);
});

const proxied = (sent: Record<string, string[]>, pair: CertificatePair): Credentials => ({
  headers: (name) => sent[name] ?? [],
  headerNames: () => Object.keys(sent),
  certificates: chain(pair),
});
const proxy = requestHeaders({
  verifier: clientCertificateVerifier({
    trust: trustBundle(root.certificate, "root"),
    clock: virtualClock(now),
  }),
  allowedNames: ["carol"],
  usernameHeaders: ["X-Remote-User"],
  groupHeaders: ["X-Remote-Group"],
  extraHeaderPrefixes: ["X-Remote-Extra-"],
});
const remote = {
  "x-remote-user": ["zoe"],
  "x-remote-group": ["a", "b"],
  "x-remote-extra-example.com%2fscope": ["s"],
  "x-remote-extra-100%": ["t"],
};
test("a trusted proxy names the user by headers", async () => {
  assert.deepEqual((await proxy.authenticate(proxied(remote, carol)))?.user, {
    name: "zoe",
    groups: ["a", "b"],
    extra: { "example.com/scope": ["s"], "100%": ["t"] },
  });
});
test("headers of a proxy without a certificate yield no identity", async () => {
  const { certificates: _none, ...without } = proxied(remote, carol);
  for (const credentials of [without, { ...without, certificates: [] }])
    assert.equal(await proxy.authenticate(credentials), undefined);
});
test("a proxy request without a user yields no identity", async () =>
  assert.equal(await proxy.authenticate(proxied({}, carol)), undefined));
test("a proxy of another name or authority is a bad credential", async () => {
  await assert.rejects(async () => proxy.authenticate(proxied(remote, short)), /"short" is not allowed/);
  await assert.rejects(async () => proxy.authenticate(proxied(remote, mallory)), BadCredential);
});

const oids: [bytes: readonly number[], text: string, where: string][] = [
  [[0x03, 0x2a], "0.3.42", "the first branch"],
  [[0x2a, 0x86, 0x48], "1.2.840", "the second branch, a number of several bytes"],
  [[0x55, 0x1d, 0x0f], "2.5.29.15", "the third branch"],
  [[0x88, 0x37, 0x03], "2.999.3", "the third branch, whose second number has no limit"],
];
for (const [bytes, text, where] of oids)
  test(`an object identifier of ${where} reads ${text}`, () =>
    assert.equal(oidText(Uint8Array.from(bytes)), text));
