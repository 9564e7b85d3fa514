import assert from "node:assert/strict";
import { createPrivateKey } from "node:crypto";
import { lstat, mkdtemp, readFile, readlink, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { requestedOrganizations, selfSigned } from "#authn";
import { silentLog, virtualClock } from "#base";
import type { ApiClient } from "#client";
import { dialects } from "#dialect";
import { eventually } from "#kit";
import { certificateFiles } from "./certificate-files.ts";
import { clientConfigText } from "./client-config-text.ts";
import { certificateRotation, newKey, retryMilliseconds, rotationTime } from "./rotation.ts";
import { requestCertificate, requestName } from "./signing-request.ts";
import { clientTemplate } from "./templates.ts";

const template = clientTemplate("n1", dialects.kubernetes);

async function folderOf(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "certificates-"));
  t.after(() => rm(folder, { recursive: true }));
  return folder;
}

const pairFor = (now: number, days: number) => selfSigned({ commonName: "n1" }, ["n1"], { now, days });

test("a certificate is stored with its key behind a symbolic link, readable only by its owner", async (t) => {
  const folder = await folderOf(t);
  const files = certificateFiles(folder, "kubelet-client", () => Date.UTC(2030, 1, 2, 3, 4, 5));
  assert.equal(files.read(), undefined);
  const key = newKey();
  await files.write(pairFor(0, 1).certificate, key);
  assert.equal(await readlink(files.current), join(folder, "kubelet-client-2030-02-02-03-04-05.pem"));
  assert.equal((await lstat(await readlink(files.current))).mode & 0o777, 0o600);
  const text = await readFile(files.current, "utf8");
  assert.deepEqual(text.match(/-----BEGIN [A-Z ]+-----/g), [
    "-----BEGIN CERTIFICATE-----",
    "-----BEGIN EC PRIVATE KEY-----",
  ]);
  assert.equal(files.read()?.notAfter, 86_400_000);
});

test("rotation is due in the last third of a certificate's lifetime, and retries with increasing delays", () => {
  const life = { notBefore: 1000, notAfter: 2000 };
  assert.deepEqual([rotationTime(life, 0), rotationTime(life, 1)], [1700, 1900]);
  assert.deepEqual(
    [1, 2, 3, 4, 5, 6, 7].map((failures) => retryMilliseconds(failures, 0)),
    [2000, 4000, 8000, 16_000, 32_000, 32_000, 32_000],
  );
});

test("the name of a signing request is derived from key, subject and usages", () => {
  const key = createPrivateKey(`-----BEGIN EC PRIVATE KEY-----
MHcCAQEEIGmHvwrIABQRFzB3geCt8T53DpPPWpAdGktsW9J8b7JJoAoGCCqGSM49
AwEHoUQDQgAEweAioopsuVYwB0s8p7usEJOZGe//QHTAY9o6OujdawyuGRyZpOsU
MJIGaBy9ohrbJ0d33mmUcc/XgCVodgEjIw==
-----END EC PRIVATE KEY-----
`);
  const named = { ...template, commonName: "system:node:n2" };
  // The name that the kubelet uses.
  assert.equal(requestName(key, named), "node-csr-eTdRw33hhjHYAuymteVGO8uVW1ByfI32AqZpnJvN_iI");
});

/** Fakes a server that responds to each read of a signing request with the next of `answers`. */
function server(...answers: readonly object[]) {
  const requests: { metadata: object; spec: { request: string; usages: string[] } }[] = [];
  let at = 0;
  const client = {
    of: () => ({
      create: async (object: (typeof requests)[number]) => {
        requests.push(object);
        return { metadata: { name: `csr-${requests.length}` } };
      },
      get: async () => ({ status: answers[Math.min(at++, answers.length - 1)] }),
    }),
  } as unknown as ApiClient;
  return { client, requests };
}
const signed = (now: number, days = 1) => ({
  certificate: Buffer.from(pairFor(now, days).certificate).toString("base64"),
});

test("a signing request is polled until it is signed", async () => {
  const clock = virtualClock();
  const { client, requests } = server({}, {}, signed(0));
  const waiting = requestCertificate(
    { client, clock, template, key: newKey(), waitMilliseconds: 10_000 },
    new AbortController().signal,
  );
  for (let second = 0; second < 3; second++) {
    await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(1000);
  }
  assert.match(await waiting, /BEGIN CERTIFICATE/);
  assert.deepEqual(requests[0]!.metadata, { generateName: "csr-" });
  assert.deepEqual(requests[0]!.spec.usages, ["digital signature", "client auth"]);
  assert.deepEqual(requestedOrganizations(Buffer.from(requests[0]!.spec.request, "base64").toString()), [
    "system:nodes",
  ]);
});

test("a denied signing request is an error with the denial's reason", async () => {
  const { client } = server({ conditions: [{ type: "Denied", reason: "No", message: "never" }] });
  const options = { client, clock: virtualClock(), template, key: newKey(), waitMilliseconds: 10_000 };
  await assert.rejects(requestCertificate(options, new AbortController().signal), /was Denied: No never/);
});

test("a certificate is replaced before it expires, and a denial is followed by another request", async (t) => {
  const clock = virtualClock(1e12);
  const denied = { conditions: [{ type: "Denied", reason: "No", message: "" }] };
  const { client, requests } = server(denied, signed(1e12, 10));
  const files = certificateFiles(await folderOf(t), "x", () => clock.now());
  const initial = await files.write(pairFor(1e12, 1).certificate, newKey());
  const stopping = new AbortController();
  const expirations: number[] = [];
  const running = certificateRotation(
    {
      clock,
      log: silentLog,
      files,
      client: () => client,
      template: () => template,
      initial,
      random: () => 0,
      onCertificate: ({ notAfter }) => {
        expirations.push(notAfter);
        stopping.abort();
      },
    },
    stopping.signal,
  );
  await clock.advance(0.69 * 86_400_000);
  assert.equal(requests.length, 0);
  await clock.advance(0.02 * 86_400_000);
  await eventually(async () => expirations.length > 0, { clock, milliseconds: 2000 });
  await running;
  assert.equal(requests.length, 2);
  assert.deepEqual(expirations, [1e12 + 10 * 86_400_000]);
});

test("a certificate is replaced soon after the clock was set forward", async (t) => {
  const clock = virtualClock(1e12);
  const { client, requests } = server(signed(1e12, 10));
  const files = certificateFiles(await folderOf(t), "x", () => clock.now());
  const initial = await files.write(pairFor(1e12, 1).certificate, newKey());
  const stopping = new AbortController();
  const running = certificateRotation(
    {
      clock,
      log: silentLog,
      files,
      client: () => client,
      template: () => template,
      initial,
      onCertificate: () => stopping.abort(),
    },
    stopping.signal,
  );
  clock.set(clock.now() + 0.95 * 86_400_000);
  await clock.advance(60_000);
  assert.equal(requests.length, 1);
  await eventually(async () => stopping.signal.aborted, { clock, milliseconds: 1000 });
  await running;
});

test("the written client configuration contains the bootstrap server and the link to the certificate", () => {
  const bootstrap = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [
      { name: "c", cluster: { server: "https://10.0.0.1:6443", "certificate-authority": "/ca.crt" } },
    ],
    users: [],
    contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
    "current-context": "x",
  } as const;
  const text = clientConfigText(bootstrap as never, "/pki/current.pem");
  assert.match(text, /^ {4}certificate-authority: \/ca.crt\n {4}server: https:\/\/10.0.0.1:6443$/m);
  assert.match(text, /^ {4}client-certificate: \/pki\/current.pem\n {4}client-key: \/pki\/current.pem$/m);
});
