import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { createAuthority, selfSigned } from "#authn";
import { virtualClock } from "#base";
import { listen } from "#http";
import { needs } from "#kit";
import { nameTable, namesOf, readPair, servingCertificates } from "./certificates.ts";

const entries = [
  { given: [], found: ["a.example", "*.wild.example"], item: "found" },
  {
    given: ["b.example", "*.given.example"],
    found: ["a.example", "beside.example", "own.example"],
    item: "given",
  },
  { given: ["a.example"], found: [], item: "given for a" },
  { given: ["x.wild.example"], found: [], item: "exact" },
];
const lookups: [name: string, item: string | undefined][] = [
  ["a.example", "given for a"],
  ["A.Example.", "given for a"],
  ["b.example", "given"],
  ["y.given.example", "given"],
  ["z.y.given.example", undefined],
  ["x.wild.example", "exact"],
  ["y.wild.example", "found"],
  ["other.example", undefined],
  ["beside.example", "given"],
  ["own.example", undefined],
];
for (const [name, item] of lookups)
  test(`${name} gets ${item ? `the certificate "${item}"` : "the default one"}`, () =>
    assert.equal(nameTable(entries, ["own.example"])(name), item));

const validity = { now: Date.now(), days: 1 };

test("names are the alternative names, or the common name of a certificate without any", () => {
  const withNames = selfSigned({ commonName: "ignored" }, ["one.example", "192.0.2.7"], validity);
  assert.deepEqual(namesOf(new X509Certificate(withNames.certificate)), ["one.example", "192.0.2.7"]);
  assert.deepEqual(
    namesOf(new X509Certificate(selfSigned({ commonName: "lone.example" }, [], validity).certificate)),
    ["lone.example"],
  );
});

test("changed files are reloaded; an invalid pair is reported and the old one kept", async () => {
  const folder = mkdtempSync(join(tmpdir(), "orch-pair-"));
  const files = { certFile: join(folder, "c"), keyFile: join(folder, "k") };
  const put = (pair: { certificate: string; key: string }, second: number): void => {
    writeFileSync(files.certFile, pair.certificate);
    writeFileSync(files.keyFile, pair.key);
    for (const file of [files.certFile, files.keyFile]) utimesSync(file, second, second);
  };
  try {
    const [first, second] = ["first", "second"].map((commonName) =>
      selfSigned({ commonName }, ["x"], validity),
    ) as [ReturnType<typeof selfSigned>, ReturnType<typeof selfSigned>];
    put(first, 1000);
    const clock = virtualClock();
    const served = servingCertificates({ main: files, named: [], clientCaFiles: [] }, {});
    const changes: unknown[] = [];
    const problems: string[] = [];
    const stop = new AbortController();
    served.follow({
      clock,
      signal: stop.signal,
      changed: (context) => changes.push(context.cert),
      problem: (error) => problems.push(error.message),
    });
    await clock.advance(10_000);
    assert.deepEqual([served.certificate, changes.length], [first.certificate, 0]);
    put(second, 2000);
    await clock.advance(5000);
    assert.deepEqual([served.certificate, changes], [second.certificate, [second.certificate]]);
    put({ certificate: second.certificate, key: first.key }, 3000);
    await clock.advance(5000);
    assert.equal(served.certificate, second.certificate);
    assert.match(problems.join(), /does not belong/);
    stop.abort();
    assert.throws(
      () => readPair(files),
      (error: Error) => error.message.startsWith(files.certFile),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test(
  "clients receive the names of the client CAs, for every server name and after a change",
  needs("openssl"),
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "authorities-"));
    t.after(() => rmSync(folder, { recursive: true }));
    const year = { now: Date.now(), days: 365 };
    const put = (name: string, text: string): string => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    };
    const serving = selfSigned({ commonName: "server" }, ["named.example"], year);
    const [certFile, keyFile] = [put("tls.crt", serving.certificate), put("tls.key", serving.key)];
    const clientCaFiles = ["first", "second"].map((name) =>
      put(name, createAuthority({ commonName: `the ${name} authority` }, year).certificate),
    );
    const clock = virtualClock();
    const served = servingCertificates(
      { main: { certFile, keyFile }, named: [{ certFile, keyFile, names: [] }], clientCaFiles },
      {},
    );
    const listener = await listen({
      host: "127.0.0.1",
      port: 0,
      tls: { ...served.options, requestCert: true, rejectUnauthorized: false },
      handle: async () => ({ status: 200, headers: {} }),
      now: Date.now,
      onInternalError: assert.ifError,
    });
    t.after(() => listener.close());
    const names = async (serverName: string): Promise<string[]> => {
      const to = ["s_client", "-connect", `127.0.0.1:${listener.address.port}`, "-servername", serverName];
      const { stdout } = await promisify(execFile)("sh", ["-c", 'exec openssl "$@" </dev/null', "sh", ...to]);
      return [...stdout.matchAll(/^CN ?= ?(the .*)$/gm)].map((found) => found[1]!);
    };
    for (const serverName of ["named.example", "other.example"])
      assert.deepEqual(await names(serverName), ["the first authority", "the second authority"]);

    const stop = new AbortController();
    t.after(() => stop.abort());
    served.follow({
      clock,
      signal: stop.signal,
      changed: (context) => listener.setSecureContext(context),
      problem: assert.ifError,
    });
    put("second", createAuthority({ commonName: "the third authority of all" }, year).certificate);
    await clock.advance(5000);
    for (const serverName of ["named.example", "other.example"])
      assert.deepEqual(await names(serverName), ["the first authority", "the third authority of all"]);
  },
);
