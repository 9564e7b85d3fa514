// Servers of later releases: what `--release` changes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { dialects } from "#dialect";
import { settle } from "#options";
import { apiserverOptions } from "../../options/options.ts";
import { type Json, each, serve } from "../../server.fixture.ts";

const expectations: [release: string, gitVersion: string, admission: string[], policies: boolean][] = [
  ["1.27", "v1.27.16", ["v1"], false],
  ["1.29", "v1.29.0", ["v1"], false],
  ["1.30", "v1.30.0", ["v1"], true],
  ["1.32", "v1.32.0", ["v1"], true],
];
for (const [release, gitVersion, admission, policies] of expectations) {
  test(`a server of release ${release} (--release) reports ${gitVersion}, and ${policies ? "serves" : "does not serve"} policies`, async () => {
    const { must } = await serve({ flags: [`--release=${release}`] });
    const version = (await must(200, "GET", "/version")).json;
    assert.deepEqual(
      [version["major"], version["minor"], version["gitVersion"]],
      [...release.split("."), gitVersion],
    );
    assert.equal((await must(200, "GET", "/openapi/v2")).at("info.version"), gitVersion);
    assert.equal((await must(200, "GET", "/openapi/v3/api/v1")).at("info.version"), gitVersion);
    const group = "/apis/admissionregistration.orch.io";
    assert.deepEqual(each((await must(200, "GET", group)).at("versions"), "version"), admission);
    const resources = each((await must(200, "GET", `${group}/v1`)).at("resources"), "name");
    assert.equal(resources.includes("validatingadmissionpolicies"), policies);
  });
}

const settled: [flags: string[], gates: Json, expressions: string][] = [
  [[], { SidecarContainers: false, AdmissionWebhookMatchConditions: false }, "1.27"],
  [["--release=1.28"], { SidecarContainers: false, AdmissionWebhookMatchConditions: true }, "1.28"],
  [["--release=1.29"], { SidecarContainers: true, CRDValidationRatcheting: false }, "1.29"],
  [["--release=1.30"], { CRDValidationRatcheting: true, WatchList: false }, "1.30"],
  [["--release=1.32", "--expression-release=1.29"], { WatchList: true }, "1.29"],
  [["--release=1.32", "--feature-gates=WatchList=false"], { WatchList: false }, "1.32"],
  [
    ["--release=1.30", "--feature-gates=AllBeta=false"],
    { SidecarContainers: false, ValidatingAdmissionPolicy: true },
    "1.30",
  ],
];
for (const [flags, expected, expressions] of settled) {
  test(`${flags.join(" ") || "no flag"} sets ${JSON.stringify(expected)} and expressions of ${expressions}`, () => {
    const { values, gates } = settle(apiserverOptions(dialects.orch), flags);
    const found = Object.fromEntries(Object.keys(expected).map((name) => [name, gates.enabled(name)]));
    assert.deepEqual([found, values.expressionRelease], [expected, expressions]);
  });
}

test("the gates of the release apply to the fields of kinds", async () => {
  const sidecar = { name: "proxy", image: "proxy", restartPolicy: "Always" };
  const body = {
    metadata: { name: "one" },
    spec: { initContainers: [sidecar], containers: [{ name: "main", image: "main" }] },
  };
  for (const [release, kept] of [
    ["1.28", undefined],
    ["1.29", "Always"],
  ] as const) {
    const { must } = await serve({
      flags: [`--release=${release}`, "--disable-admission-plugins=ServiceAccount"],
    });
    const made = await must(201, "POST", "/api/v1/namespaces/default/pods", { body });
    assert.equal(made.at("spec.initContainers.0.restartPolicy"), kept);
  }
});

test("a release beyond the last one is rejected", () => {
  const { errors } = settle(apiserverOptions(dialects.orch), ["--release=1.33"]);
  assert.match(errors.join("\n"), /--release=1\.33: must be 1\.27, 1\.28, .* or 1\.32/);
});
