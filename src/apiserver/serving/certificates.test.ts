import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { selfSigned } from "#authn";
import { virtualClock } from "#base";
import { nameTable, namesOf, readPair, servingCertificates } from "./certificates.ts";

const entries = [
  { given: [], found: ["a.example", "*.wild.example"], item: "found" },
  { given: ["b.example", "*.given.example"], found: ["a.example"], item: "given" },
  { given: ["a.example"], found: [], item: "given for a" },
  { given: ["x.wild.example"], found: [], item: "exact" },
];
const asked: [name: string, item: string | undefined][] = [
  ["a.example", "given for a"],
  ["A.Example.", "given for a"],
  ["b.example", "given"],
  ["y.given.example", "given"],
  ["z.y.given.example", undefined],
  ["x.wild.example", "exact"],
  ["y.wild.example", "found"],
  ["other.example", undefined],
];
for (const [name, item] of asked)
  test(`${name} gets ${item ? `the certificate "${item}"` : "the default one"}`, () =>
    assert.equal(nameTable(entries)(name), item));

const validity = { now: Date.now(), days: 1 };

test("names come from the alternatives, or from the common name of a certificate without them", () => {
  const withNames = selfSigned({ commonName: "ignored" }, ["one.example", "192.0.2.7"], validity);
  assert.deepEqual(namesOf(new X509Certificate(withNames.certificate)), ["one.example", "192.0.2.7"]);
  assert.deepEqual(
    namesOf(new X509Certificate(selfSigned({ commonName: "lone.example" }, [], validity).certificate)),
    ["lone.example"],
  );
});

test("files that change are read again; a broken pair is told and the old one kept", async () => {
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
    const served = servingCertificates(files, [], {});
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
