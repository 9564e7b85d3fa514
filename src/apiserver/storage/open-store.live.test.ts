import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { silentLog, systemClock } from "#base";
import { dialects } from "#dialect";
import { needs, startEtcd, testAuthority } from "#kit";
import { type ApiserverSettings, settleFlags } from "../options/settings.ts";
import { openStoreFor } from "./open-store.ts";

const dialect = dialects.orch;

/** Opens the store of the flags; records the lease notifications. */
async function open(t: TestContext, flags: readonly string[], more: Partial<ApiserverSettings> = {}) {
  const shared: number[] = [];
  const store = await openStoreFor({
    settings: { ...settleFlags(dialect, flags).values, ...more },
    dialect,
    clock: systemClock,
    log: silentLog,
    waitMilliseconds: 0,
    leaseReplaced: (keys) => void shared.push(keys),
  });
  t.after(() => store.close());
  return { store, shared };
}

test(
  "connections to etcd need --store-cafile, --store-certfile and --store-keyfile",
  { ...needs("etcd", "openssl") },
  async (t) => {
    const authority = await testAuthority();
    const etcd = await startEtcd({ authority });
    t.after(() => etcd.stop());
    const folder = mkdtempSync(join(tmpdir(), "orch-store-tls-"));
    t.after(() => rmSync(folder, { recursive: true }));
    const { cert, key } = await authority.issue("/CN=root");
    const file = (name: string, text: string): string => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    };
    const servers = `--store-servers=${etcd.endpoints.join(",")}`;
    const ca = `--store-cafile=${file("ca.crt", authority.ca)}`;
    const pair = [`--store-certfile=${file("c.crt", cert)}`, `--store-keyfile=${file("c.key", key)}`];
    const { store } = await open(t, [servers, ca, ...pair]);
    const written = await store.write({ key: "/a", value: Buffer.from("1"), expect: "absent" });
    assert.ok(written.done);
    for (const flags of [[servers], [servers, ca], [servers, ...pair]])
      await assert.rejects(open(t, flags), Error, flags.join(" "));
  },
);

test("--lease-reuse-duration-seconds determines how long writes share a lease", needs("etcd"), async (t) => {
  const etcd = await startEtcd();
  t.after(() => etcd.stop());
  const servers = `--store-servers=${etcd.endpoints.join(",")}`;
  // The minimum of the flag is one second; zero avoids waiting.
  for (const [seconds, replaced] of [
    [60, []],
    [0, [1, 1]],
  ] as const) {
    const { store, shared } = await open(t, [servers], { leaseReuseDurationSeconds: seconds });
    for (const name of ["a", "b", "c"])
      await store.write({
        key: `/leases/${seconds}/${name}`,
        value: Buffer.from("1"),
        expect: "absent",
        ttlSeconds: 3600,
      });
    assert.deepEqual(shared, replaced);
  }
});
