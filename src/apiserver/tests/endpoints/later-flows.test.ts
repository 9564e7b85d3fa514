// Flow schemas and priority levels of later releases: v1, shares of the exempt level, shares of zero.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { PriorityLevelConfiguration } from "#api";
import { startServer } from "../../library.ts";
import { type Json, each, serve } from "../../server.fixture.ts";

const group = "/apis/flowcontrol.apiserver.orch.io";
const levels = (version: string): string => `${group}/${version}/prioritylevelconfigurations`;
const keepsZero = "flowcontrol.orch.io/v1beta3-preserve-zero-concurrency-shares";
const limited = (more: Json): Json => ({
  type: "Limited",
  limited: { limitResponse: { type: "Reject" }, ...more },
});

const versions: [release: string, served: string[], preferred: string][] = [
  ["1.27", ["v1beta3", "v1beta2"], "v1beta3"],
  ["1.28", ["v1beta3", "v1beta2"], "v1beta3"],
  ["1.29", ["v1", "v1beta3", "v1beta2"], "v1"],
  ["1.32", ["v1", "v1beta3", "v1beta2"], "v1"],
];
for (const [release, served, preferred] of versions)
  test(`a server of release ${release} serves ${served.join(", ")}`, async () => {
    const { must } = await serve({ flags: [`--release=${release}`] });
    const found = await must(200, "GET", group);
    assert.deepEqual(each(found.at("versions"), "version"), served);
    assert.equal(found.at("preferredVersion.version"), preferred);
    for (const version of served) {
      const schemas = await must(200, "GET", `${group}/${version}/flowschemas`);
      assert.equal((schemas.at("items") as unknown[]).length, 13);
      assert.equal(schemas.headers["warning"] === undefined, version === preferred);
    }
  });

test("the exempt level has shares since 1.28, which users may set and the server keeps", async () => {
  for (const [release, version] of [
    ["1.28", "v1beta3"],
    ["1.32", "v1"],
  ] as const) {
    const { must } = await serve({ flags: [`--release=${release}`] });
    const path = `${levels(version)}/exempt`;
    const exempt = (await must(200, "GET", path)).at("spec.exempt");
    assert.deepEqual(exempt, { nominalConcurrencyShares: 0, lendablePercent: 0 });
    const type = "application/merge-patch+json";
    const patched = await must(200, "PATCH", path, {
      type,
      body: { spec: { exempt: { nominalConcurrencyShares: 20, lendablePercent: 50 } } },
    });
    assert.equal(patched.at("spec.exempt.nominalConcurrencyShares"), 20);
    const wrong = await must(422, "PATCH", path, {
      type,
      body: { spec: { exempt: { nominalConcurrencyShares: -1, lendablePercent: 101 } } },
    });
    assert.match(String(wrong.at("message")), /nominalConcurrencyShares: .* non-negative integer/);
    assert.match(String(wrong.at("message")), /lendablePercent: .* must be between 0 and 100, inclusive/);
    const other = await must(422, "POST", levels(version), {
      body: { metadata: { name: "mine" }, spec: { ...limited({}), exempt: {} } },
    });
    assert.match(String(other.at("message")), /spec\.exempt: Forbidden: must be nil if the type is Limited/);
  }
  const { must } = await serve();
  assert.equal((await must(200, "GET", `${levels("v1beta3")}/exempt`)).at("spec.exempt"), undefined);
});

test("shares of zero are kept in v1, and in v1beta3 by an annotation", async () => {
  const { must } = await serve({ flags: ["--release=1.32"] });
  const make = async (version: string, name: string, more: Json, annotations?: Json) =>
    (
      await must(201, "POST", levels(version), {
        body: { metadata: { name, ...(annotations && { annotations }) }, spec: limited(more) },
      })
    ).at("spec.limited.nominalConcurrencyShares");
  assert.equal(await make("v1", "unset", {}), 30);
  assert.equal(await make("v1", "zero", { nominalConcurrencyShares: 0 }), 0);
  assert.equal(await make("v1beta3", "beta", { nominalConcurrencyShares: 0 }), 30);
  assert.equal(await make("v1beta3", "beta-zero", { nominalConcurrencyShares: 0 }, { [keepsZero]: "" }), 0);
  assert.equal(await make("v1beta3", "beta-five", { nominalConcurrencyShares: 5 }, { [keepsZero]: "" }), 5);

  const read = async (version: string, name: string) => await must(200, "GET", `${levels(version)}/${name}`);
  const annotated = async (version: string, name: string): Promise<boolean> =>
    Object.hasOwn(
      ((await read(version, name)).at("metadata.annotations") as Json | undefined) ?? {},
      keepsZero,
    );
  assert.equal((await read("v1beta3", "zero")).at("spec.limited.nominalConcurrencyShares"), 0);
  assert.deepEqual(
    [await annotated("v1beta3", "zero"), await annotated("v1", "zero"), await annotated("v1", "beta-zero")],
    [true, false, false],
  );
  assert.equal(await annotated("v1beta3", "beta-five"), false);
  const refused = await must(422, "POST", levels("v1"), {
    body: { metadata: { name: "other", annotations: { [keepsZero]: "" } }, spec: limited({}) },
  });
  assert.match(
    String(refused.at("message")),
    /metadata\.annotations: Forbidden: annotation '.*' is forbidden/,
  );
});

test("without its gate, shares must be positive", async () => {
  const body = { metadata: { name: "zero" }, spec: limited({ nominalConcurrencyShares: 0 }) };
  for (const flags of [
    ["--release=1.29"],
    ["--release=1.32", "--feature-gates=ZeroLimitedNominalConcurrencyShares=false"],
  ]) {
    const { must } = await serve({ flags });
    const refused = await must(422, "POST", levels("v1"), { body });
    assert.match(
      String(refused.at("message")),
      /nominalConcurrencyShares: Invalid value: 0: must be positive/,
    );
  }
});

test("levels stored by a server are read by one of another release", async (t) => {
  const dir = await mkdtemp(join(tmpdir(), "later-flows-"));
  t.after(() => rm(dir, { recursive: true, force: true }));
  const shares = async (release: string, version: string, create?: string): Promise<unknown[]> => {
    await using server = await startServer({ store: { dir }, flags: [`--release=${release}`] });
    const ask = async (method: string, path: string, body?: Json): Promise<Json> =>
      (await (
        await server.inject({
          method,
          path,
          ...(body && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
        })
      ).json()) as Json;
    const spec = limited({ nominalConcurrencyShares: version === "v1" ? 0 : 7 });
    if (create) await ask("POST", levels(version), { metadata: { name: create }, spec });
    const { items } = await ask("GET", levels(version));
    return (items as PriorityLevelConfiguration[])
      .filter(({ metadata }) => metadata.name?.startsWith("mine"))
      .map(({ spec: { limited } }) => limited?.nominalConcurrencyShares);
  };
  assert.deepEqual(await shares("1.27", "v1beta3", "mine"), [7]);
  assert.deepEqual(await shares("1.32", "v1", "mine-zero"), [7, 0]);
  assert.deepEqual(await shares("1.27", "v1beta3"), [7, 30]);
});
