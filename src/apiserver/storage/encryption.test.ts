import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { createMetrics, silentLog, virtualClock } from "#base";
import { dialects, groupName } from "#dialect";
import { eventually } from "#kit";
import { configReloads } from "../serving/reloads.ts";
import { openEncryption } from "./encryption.ts";

const dialect = dialects.orch;

/** Resources with storage paths of one and two segments. */
const strategies = [
  ["configmaps", undefined, ""],
  ["services", "services/specs", ""],
  ["endpoints", "services/endpoints", ""],
].map(([resource, storagePath, group]) => ({
  resource,
  storagePath,
  hub: { kind: { group, branded: false, version: "v1", kind: "X" } },
})) as never;

function open(t: TestContext, resources: object[], reload = false, hasKmsV2 = true) {
  const folder = mkdtempSync(join(tmpdir(), "orch-encryption-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "enc.json");
  const kind = "EncryptionConfiguration";
  const apiVersion = `${groupName(dialect, { group: "apiserver.config", branded: true })}/v1`;
  const write = (items: object[]): void =>
    writeFileSync(file, JSON.stringify({ kind, apiVersion, resources: items }));
  write(resources);
  const stop = new AbortController();
  t.after(() => stop.abort());
  const clock = virtualClock();
  const metrics = createMetrics();
  const encryption = openEncryption({
    file,
    reload,
    kmsV2: hasKmsV2,
    dialect,
    strategies,
    storePrefix: "/registry",
    clock,
    log: silentLog,
    reloads: configReloads({ clock, log: silentLog, metrics, signal: stop.signal }),
    signal: stop.signal,
  });
  return { encryption, clock, write, metrics };
}

const service = (name: string, apiVersion: string): object => ({
  kms: { apiVersion, name, endpoint: `unix:///nowhere/${name}.sock`, timeout: "3s" },
});
const checks: [name: string, versions: readonly string[], reload: boolean, expected: readonly string[]][] = [
  ["each KMS provider has a separate check", ["v1", "v2"], false, ["kms-provider-0", "kms-provider-1"]],
  ["KMS v2 providers share one check", ["v2", "v2"], false, ["kms-providers"]],
  ["with automatic reload all providers share one check", ["v1", "v2"], true, ["kms-providers"]],
];
for (const [name, versions, reload, expected] of checks)
  test(`health: ${name}`, (t) => {
    const providers = versions.map((version, at) => service(`s${at}`, version));
    const { encryption } = open(t, [{ resources: ["configmaps"], providers }], reload);
    assert.deepEqual(
      encryption.checks.map((check) => check.name),
      expected,
    );
  });

test("health: a shared check names the providers that fail", async (t) => {
  const providers = ["a", "b"].map((name) => service(name, "v2"));
  const { encryption, clock } = open(t, [{ resources: ["configmaps"], providers }]);
  const check = Promise.resolve(encryption.checks[0]!.check());
  const failed = assert.rejects(check, (error: Error) => {
    assert.match(error.message, /^\[kms-provider-0: .*rpc error: .*, kms-provider-1: .*rpc error: /);
    return true;
  });
  await clock.advance(3000);
  await failed;
});

const secret = Buffer.alloc(32, 7).toString("base64");
const aesgcm = (name: string): object => ({ aesgcm: { keys: [{ name, secret }] } });
const keys: [key: string, provider: string][] = [
  ["/registry/configmaps/ns/a", "aesgcm:v1:maps:"],
  ["/registry/configmaps/ns/b", "aesgcm:v1:maps:"],
  ["/registry/services/specs/ns/a", "aesgcm:v1:services:"],
  ["/registry/services/endpoints/ns/a", ""],
  ["/registry/services/specs/ns/b", "aesgcm:v1:services:"],
  ["/registry/example.com/things/ns/a", "aesgcm:v1:things:"],
  ["/registry/example.com/others/ns/a", ""],
  ["/registry/ranges/serviceips", ""],
  ["/registry/", ""],
];
test("the providers of a value depend on its key alone, in any order of lookups", (t) => {
  const { encryption } = open(t, [
    { resources: ["configmaps"], providers: [aesgcm("maps")] },
    { resources: ["services"], providers: [aesgcm("services")] },
    { resources: ["things.example.com"], providers: [aesgcm("things")] },
  ]);
  for (const round of [1, 2])
    for (const [key, provider] of keys)
      assert.equal(encryption.providersFor(key)[0]!.id, provider, `${key}, ${round}`);
});

test("a changed file is tried again if its key services were not healthy", async (t) => {
  const { clock, write, metrics } = open(t, [{ resources: ["configmaps"], providers: [aesgcm("a")] }], true);
  write([{ resources: ["configmaps"], providers: [service("starting", "v2"), aesgcm("a")] }]);
  const failures = async (count: number): Promise<boolean> =>
    metrics.expose().includes(`provider-config",status="failure"} ${count}\n`);
  await eventually(() => failures(1), { clock });
  await eventually(() => failures(2), { clock });
});

test("values without a rule are plain, unless the file may be reloaded", (t) => {
  const resources = [{ resources: ["configmaps"], providers: [aesgcm("maps"), { identity: {} }] }];
  const { encryption } = open(t, resources, false);
  assert.deepEqual(
    ["/registry/configmaps/", "/registry/events/"].map((prefix) => encryption.isPlain(prefix)),
    [false, true],
  );
  assert.equal(open(t, resources, true).encryption.isPlain("/registry/events/"), false);
});

test("without the gate KMSv2, KMS v2 providers are refused, and v1 providers are accepted", (t) => {
  const configured = (version: string) => () =>
    open(t, [{ resources: ["configmaps"], providers: [service("s", version)] }], false, false);
  assert.throws(configured("v2"), {
    message:
      'error while building transformers: could not configure KMSv2 plugin "s", KMSv2 feature is not enabled',
  });
  assert.doesNotThrow(configured("v1"));
});
