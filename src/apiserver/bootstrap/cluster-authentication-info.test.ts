import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createAuthority } from "#authn";
import { virtualClock } from "#base";
import { kinds } from "#client";
import { eventually } from "#kit";
import { startServer } from "../library.ts";
import { type Trust, combinedTrust } from "./cluster-authentication-info.ts";

const now = Date.UTC(2027, 0, 1);
const authority = (commonName: string, days = 10): string =>
  createAuthority({ commonName }, { now, days }).certificate;
const [ours, theirs, short] = [authority("ours"), authority("theirs"), authority("short", 1)];
const noHeaders = {
  "requestheader-username-headers": [],
  "requestheader-group-headers": [],
  "requestheader-extra-headers-prefix": [],
  "requestheader-allowed-names": [],
};
const trusting = (
  clientAuthorities: string,
  proxyAuthorities = "",
  requestHeaders: Trust["requestHeaders"] = noHeaders,
): Trust => ({ clientAuthorities, proxyAuthorities, requestHeaders });
const headers = (name: string): Trust["requestHeaders"] => ({
  ...noHeaders,
  "requestheader-username-headers": ["X-Remote-User", name],
});

const cases: [
  name: string,
  stored: Readonly<Record<string, string>>,
  trust: Trust,
  at: number,
  expected: Readonly<Record<string, string>>,
][] = [
  ["client CAs are published", {}, trusting(ours), now, { "client-ca-file": ours }],
  [
    "CAs of another server are kept",
    { "client-ca-file": theirs },
    trusting(ours),
    now,
    { "client-ca-file": theirs + ours },
  ],
  ["CAs are not duplicated", { "client-ca-file": ours }, trusting(ours), now, { "client-ca-file": ours }],
  [
    "expired CAs are removed",
    { "client-ca-file": short },
    trusting(ours),
    now + 2 * 86_400_000,
    { "client-ca-file": ours },
  ],
  [
    "request headers are published only with a proxy CA",
    {},
    trusting(ours, "", headers("A")),
    now,
    { "client-ca-file": ours },
  ],
  [
    "request headers of several servers are merged",
    { "requestheader-client-ca-file": theirs, "requestheader-username-headers": '["B"]' },
    trusting("", theirs, headers("A")),
    now,
    {
      "requestheader-username-headers": '["B","X-Remote-User","A"]',
      "requestheader-group-headers": "[]",
      "requestheader-extra-headers-prefix": "[]",
      "requestheader-allowed-names": "[]",
      "requestheader-client-ca-file": theirs,
    },
  ],
];
for (const [name, stored, trust, at, expected] of cases)
  test(`authentication info: ${name}`, () => assert.deepEqual(combinedTrust(stored, trust, at), expected));

test("a server publishes its client CA, and restores the config map after its deletion", async () => {
  const folder = mkdtempSync(join(tmpdir(), "authentication-info-"));
  try {
    const file = join(folder, "ca.crt");
    writeFileSync(file, ours);
    const clock = virtualClock(now);
    await using server = await startServer({ store: "memory", clock, flags: [`--client-ca-file=${file}`] });
    const client = server.client.of(kinds.configMaps);
    const place = { namespace: "orch-system" };
    const published = async (): Promise<string | undefined> =>
      (await client.list(place)).items.find(
        ({ metadata }) => metadata.name === "extension-apiserver-authentication",
      )?.data?.["client-ca-file"];
    const until = async (expected: string): Promise<void> => {
      for (let round = 0; round < 200 && (await published()) !== expected; round++)
        await clock.advance(10_000);
      assert.equal(await published(), expected);
    };
    await until(ours);
    await client.delete("extension-apiserver-authentication", place);
    await until(ours);
    writeFileSync(file, theirs);
    await until(ours + theirs);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("the start of legacy token tracking is recorded once", async () => {
  await using server = await startServer({ store: "memory", clock: virtualClock(now) });
  const { data } = await server.client
    .of(kinds.configMaps)
    .get("orch-apiserver-legacy-service-account-token-tracking", { namespace: "orch-system" });
  assert.deepEqual(data, { since: "2027-01-01" });
});

test("an invalid start date is replaced, and the config map is deleted when tracking is off", async () => {
  const dir = mkdtempSync(join(tmpdir(), "token-tracking-"));
  const name = "orch-apiserver-legacy-service-account-token-tracking";
  const place = { namespace: "orch-system" };
  try {
    {
      const clock = virtualClock(now);
      await using server = await startServer({ store: { dir }, clock });
      const maps = server.client.of(kinds.configMaps);
      const stored = await maps.get(name, place);
      await maps.update({ ...stored, data: { since: "2027-02-30", other: "x" } });
      const data = async () => (await maps.get(name, place)).data;
      const isNew = async (): Promise<boolean> => {
        // The store writes in another thread, which does not use the virtual clock.
        await sleep(5);
        return (await data())?.["since"] === "2027-01-01";
      };
      await eventually(isNew, { clock, milliseconds: 10_000 });
      assert.deepEqual(await data(), { since: "2027-01-01", other: "x" });
    }
    const flags = ["--feature-gates=LegacyServiceAccountTokenTracking=false"];
    await using server = await startServer({ store: { dir }, clock: virtualClock(now), flags });
    await assert.rejects(server.client.of(kinds.configMaps).get(name, place), { code: 404 });
  } finally {
    rmSync(dir, { recursive: true });
  }
});
