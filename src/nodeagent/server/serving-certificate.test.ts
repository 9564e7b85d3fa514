import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSecureContext } from "node:tls";
import { type TestContext, test } from "node:test";
import { createAuthority, signServing } from "#authn";
import { silentLog, virtualClock } from "#base";
import { eventually } from "#kit";
import { servingCertificate } from "./serving-certificate.ts";

const start = Date.UTC(2024, 0, 1);
async function setUp(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), "serving-"));
  t.after(() => rm(folder, { recursive: true }));
  const clock = virtualClock(start);
  const options = {
    clock,
    log: silentLog,
    certificateFile: "",
    keyFile: "",
    folder,
    agent: "agent",
    nodeName: "n1",
  };
  return { folder, clock, options };
}

test("without a certificate the agent creates and keeps a self-signed one with an RSA key", async (t) => {
  const { folder, clock, options } = await setUp(t);
  const { pair } = await servingCertificate(options);
  const certificate = new X509Certificate(pair.certificate);
  assert.equal(certificate.subjectAltName, "DNS:n1");
  assert.match(certificate.issuer, /^CN=n1-ca@\d+$/);
  assert.equal(certificate.publicKey.asymmetricKeyType, "rsa");
  assert.equal(pair.certificate.match(/BEGIN CERTIFICATE/g)?.length, 2, "the CA certificate follows it");
  assert.equal(
    (await stat(join(folder, "agent.key"))).mode & 0o077,
    0,
    "the key is readable by its owner only",
  );
  assert.equal((await servingCertificate(options)).pair.certificate, pair.certificate);
  await clock.advance(340 * 86_400_000);
  const renewed = await servingCertificate(options);
  assert.ok(
    new X509Certificate(renewed.pair.certificate).validToDate.getTime() > clock.now() + 300 * 86_400_000,
  );
});

test("a configured certificate is used, and reloaded when its file changes", async (t) => {
  const { folder, clock, options } = await setUp(t);
  const authority = createAuthority({ commonName: "ca" }, { now: start, days: 10 });
  const [certificateFile, keyFile] = [join(folder, "given.crt"), join(folder, "given.key")];
  const give = async (): Promise<string> => {
    const pair = signServing(authority, { commonName: "n1" }, ["n1"], { now: start, days: 5 });
    await writeFile(certificateFile, pair.certificate);
    await writeFile(keyFile, pair.key);
    return pair.certificate;
  };
  const higher = createAuthority({ commonName: "intermediate" }, { now: start, days: 10 }, authority);
  const chained = signServing(higher, { commonName: "n1" }, ["n1"], { now: start, days: 5 });
  await writeFile(certificateFile, `${chained.certificate}${higher.certificate}`);
  await writeFile(keyFile, chained.key);
  const whole = await servingCertificate({ ...options, certificateFile, keyFile });
  assert.equal(
    whole.pair.certificate.match(/BEGIN CERTIFICATE/g)?.length,
    2,
    "intermediates after the certificate are served with it",
  );
  createSecureContext({ cert: whole.pair.certificate, key: whole.pair.key });
  const first = await give();
  const serving = await servingCertificate({ ...options, certificateFile, keyFile });
  assert.equal(serving.pair.certificate, first);
  const changed = Promise.withResolvers<string>();
  const stop = serving.follow(({ certificate }) => changed.resolve(certificate));
  t.after(stop);
  const second = await give();
  await clock.advance(60_000);
  assert.equal(await changed.promise, second);
  await assert.rejects(readFile(join(folder, "agent.crt")), "no other certificate was created");
});

test("a certificate that is replaced before its key is used once the key follows", async (t) => {
  const { folder, clock, options } = await setUp(t);
  const authority = createAuthority({ commonName: "ca" }, { now: start, days: 10 });
  const [certificateFile, keyFile] = [join(folder, "given.crt"), join(folder, "given.key")];
  const issue = () => signServing(authority, { commonName: "n1" }, ["n1"], { now: start, days: 5 });
  const [first, second] = [issue(), issue()];
  await writeFile(certificateFile, first.certificate);
  await writeFile(keyFile, first.key);
  const serving = await servingCertificate({ ...options, certificateFile, keyFile });
  const seen: string[] = [];
  const stop = serving.follow(({ certificate, key }) => {
    seen.push("read");
    createSecureContext({ cert: certificate, key });
    seen.push("used");
  });
  t.after(stop);
  await writeFile(certificateFile, second.certificate);
  await eventually(async () => seen.length > 0, { clock, milliseconds: 60_000 });
  await writeFile(keyFile, second.key);
  await eventually(async () => seen.includes("used"), { clock, milliseconds: 60_000 });
  assert.equal(seen[1], "read", "a pair that does not match is not used");
});
