import assert from "node:assert/strict";
import { hostname } from "node:os";
import { test } from "node:test";
import { virtualClock } from "#base";
import { kinds } from "#client";
import { serverName } from "./identity-lease.ts";
import { startServer } from "../library.ts";

const names: [host: string, program: string, name: string][] = [
  ["vm", "kube-apiserver", "apiserver-wlv32tlttr4jl3gtroqexyxapa"],
  ["vm", "orch-apiserver", "apiserver-ovipbvinv7xltrw2yuhl7274bi"],
];
for (const [host, program, name] of names)
  test(`the name of ${program} on ${host}`, () => assert.equal(serverName(host, program), name));

const place = { namespace: "orch-system" };
const ours = { "apiserver.orch.io/identity": "orch-apiserver", "orch.io/hostname": hostname() };
const dead = (renewTime?: string) => ({
  metadata: { name: "apiserver-dead", namespace: "orch-system", labels: ours },
  spec: { holderIdentity: "x", leaseDurationSeconds: 3600, ...(renewTime && { renewTime }) },
});

test("a server creates, renews and recreates its lease, and collects expired leases", async () => {
  const clock = virtualClock(Date.UTC(2030, 0, 1));
  await using server = await startServer({ store: "memory", clock });
  const leases = server.client.of(kinds.leases);
  const name = serverName(hostname(), "orch-apiserver");
  const found = async (each = name) =>
    (await leases.list(place)).items.find(({ metadata }) => metadata.name === each);
  const until = async (holds: () => Promise<boolean>, milliseconds: number): Promise<void> => {
    for (let round = 0; round < 200 && !(await holds()); round++) await clock.advance(milliseconds);
    assert.ok(await holds());
  };
  const first = await found();
  assert.deepEqual(first?.metadata.labels, ours);
  assert.match(first?.spec.holderIdentity ?? "", new RegExp(`^${name}_[0-9a-f-]{36}$`));
  assert.deepEqual(
    [first?.spec.leaseDurationSeconds, first?.spec.renewTime],
    [3600, "2030-01-01T00:00:00.000000Z"],
  );
  await until(async () => (await found())?.spec.renewTime !== first?.spec.renewTime, 10_000);
  assert.equal((await found())?.spec.holderIdentity, first?.spec.holderIdentity);
  await leases.delete(name, place);
  await until(async () => (await found()) !== undefined, 10_000);
  await leases.create(dead("2030-01-01T00:00:00.000000Z"), place);
  await leases.create({ ...dead(), metadata: { ...dead().metadata, name: "apiserver-odd" } }, place);
  await leases.create({ ...dead(), metadata: { name: "other", namespace: "orch-system" } }, place);
  await until(async () => !(await found("apiserver-dead")) && !(await found("apiserver-odd")), 600_000);
  assert.ok(await found("other"));
  assert.ok(await found());
});

test("no lease is created when the feature gate is off", async () => {
  await using server = await startServer({
    store: "memory",
    flags: ["--feature-gates=APIServerIdentity=false"],
  });
  assert.deepEqual((await server.client.of(kinds.leases).list(place)).items, []);
});
