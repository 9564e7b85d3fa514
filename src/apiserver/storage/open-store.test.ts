import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { createMetrics, silentLog, virtualClock } from "#base";
import { dialects, groupName } from "#dialect";
import { eventually } from "#kit";
import { openStore } from "#store";
import { settleFlags } from "../options/settings.ts";
import { configReloads } from "../serving/reloads.ts";
import { openEncryption } from "./encryption.ts";
import { openStoreFor } from "./open-store.ts";

const dialect = dialects.orch;
const secretOf = (byte: number): string => Buffer.alloc(32, byte).toString("base64");
const config = (...names: string[]): string =>
  JSON.stringify({
    kind: "EncryptionConfiguration",
    apiVersion: `${groupName(dialect, { group: "apiserver.config", branded: true })}/v1`,
    resources: [
      {
        resources: ["secrets"],
        providers: [
          { aesgcm: { keys: names.map((name, at) => ({ name, secret: secretOf(at + 1) })) } },
          { identity: {} },
        ],
      },
    ],
  });

async function setUp(t: TestContext, ...flags: string[]) {
  const folder = mkdtempSync(join(tmpdir(), "orch-encryption-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "enc.json");
  writeFileSync(file, config("first"));
  const clock = virtualClock();
  const plain = await openStore({ memory: true, clock });
  const stop = new AbortController();
  t.after(async () => {
    stop.abort();
    await plain.close();
  });
  const { values: settings } = settleFlags(dialect, [
    "--store-servers=memory://",
    `--encryption-provider-config=${file}`,
    ...flags,
  ]);
  const strategies = [
    { resource: "secrets", hub: { kind: { group: "", branded: false, version: "v1", kind: "Secret" } } },
  ] as never;
  const encryption = openEncryption({
    file,
    reload: settings.encryptionProviderConfigAutomaticReload,
    dialect,
    strategies,
    storePrefix: "/registry",
    clock,
    log: silentLog,
    reloads: configReloads({ clock, log: silentLog, metrics: createMetrics(), signal: stop.signal }),
    signal: stop.signal,
  });
  const store = await openStoreFor({ settings, dialect, encryption, clock, log: silentLog }, plain);
  /** Advances the clock so that the file is polled. */
  const advance = async (milliseconds: number): Promise<void> => {
    await clock.advance(milliseconds);
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setTimeout(resolve, 1));
  };
  const keyOf = async (name: string): Promise<string> => {
    await store.write({ key: `/registry/secrets/ns/${name}`, value: Buffer.from("value"), expect: "absent" });
    const { entries } = await plain.read({ key: `/registry/secrets/ns/${name}` });
    return /aesgcm:v1:(\w+):/.exec(Buffer.from(entries[0]!.value).toString("latin1"))?.[1] ?? "plain";
  };
  return { file, clock, advance, keyOf, plain, store };
}

test("with --encryption-provider-config secrets are encrypted in the store, by the first key", async (t) => {
  const { keyOf, plain } = await setUp(t);
  assert.equal(await keyOf("a"), "first");
  const { entries } = await plain.read({ key: "/registry/secrets/ns/a" });
  assert.equal(Buffer.from(entries[0]!.value).includes("value"), false);
});

test("a changed encryption configuration is reloaded if enabled; an invalid one does not take effect", async (t) => {
  const { file, clock, advance, keyOf } = await setUp(t, "--encryption-provider-config-automatic-reload");
  assert.equal(await keyOf("a"), "first");
  writeFileSync(file, config("second", "first"));
  let written = 0;
  await eventually(async () => (await keyOf(`b${written++}`)) === "second", { clock, milliseconds: 1000 });
  writeFileSync(file, "{");
  await advance(1_000);
  assert.equal(await keyOf("c"), "second");
});

test("a value encrypted by another provider is stale until it is written again", async (t) => {
  const { plain, store } = await setUp(t);
  const key = "/registry/secrets/ns/old";
  await plain.write({ key, value: Buffer.from("plain"), expect: "absent" });
  assert.equal(await store.isStale!(key), true);
  await store.write({ key, value: Buffer.from("plain"), expect: "any" });
  assert.equal(await store.isStale!(key), false);
});

test("without automatic reload the encryption configuration does not change", async (t) => {
  const { file, advance, keyOf } = await setUp(t);
  writeFileSync(file, config("second", "first"));
  await advance(120_000);
  assert.equal(await keyOf("a"), "first");
});

test("an unreachable remote store is reported with its address", async () => {
  const { values: settings } = settleFlags(dialect, ["--store-servers=http://127.0.0.1:1"]);
  const options = {
    settings,
    dialect,
    clock: virtualClock(),
    log: silentLog,
  };
  await assert.rejects(
    openStoreFor({ ...options, waitMilliseconds: 0 }),
    /^Error: the store at http:\/\/127\.0\.0\.1:1 cannot be reached: /,
  );
});

test("an unusable data directory is rejected at once", async () => {
  const { values: settings } = settleFlags(dialect, ["--data-dir=/proc/orch-none"]);
  const options = {
    settings,
    dialect,
    clock: virtualClock(),
    log: silentLog,
  };
  await assert.rejects(
    openStoreFor(options),
    /^Error: --data-dir=\/proc\/orch-none: objects cannot be kept there: /,
  );
});
