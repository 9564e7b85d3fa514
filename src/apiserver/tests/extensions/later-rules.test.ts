// Features of later releases for custom resources: ratcheting, and CEL functions.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { startServer } from "../../library.ts";
import { serve } from "../../server.fixture.ts";
import { definition, version } from "./custom-resources.fixture.ts";

const loose = { type: "object", properties: { a: { type: "integer" }, b: { type: "integer" } } };
const strict = {
  ...loose,
  properties: { a: { type: "integer", maximum: 5 }, b: { type: "integer" } },
  "x-orch-validations": [{ rule: "self.a < 5" }],
};

/** Defines widgets on the server, and waits until they are served. */
async function define({ must, ask }: Awaited<ReturnType<typeof serve>>, spec: object) {
  const path = "/apis/apiextensions.orch.io/v1/customresourcedefinitions";
  const body = definition([version({ spec })]);
  await must(201, "POST", path, { body });
  const { group } = body["spec"] as { group: string };
  const widgets = `/apis/${group}/v1/namespaces/default/widgets`;
  while ((await ask("GET", widgets)).status !== 200) await new Promise((resolve) => setImmediate(resolve));
  const widget = (values: object) => ({
    apiVersion: `${group}/v1`,
    kind: "Widget",
    metadata: { name: "w" },
    spec: values,
  });
  return { path, name: body.metadata.name, widgets, widget };
}

const cases: [name: string, flags: string[], patch: object, status: number][] = [
  ["with ratcheting another field may change", ["true"], { metadata: { labels: { x: "y" } } }, 200],
  ["without ratcheting no field may change", ["false"], { metadata: { labels: { x: "y" } } }, 422],
  ["an invalid value may not change to another invalid one", ["true"], { spec: { a: 8 } }, 422],
  ["rules are evaluated for changed values", ["true"], { spec: { b: 8 } }, 422],
  ["an invalid value may become valid", ["true"], { spec: { a: 1 } }, 200],
];
for (const [title, [on], patch, status] of cases)
  test(title, async () => {
    const server = await serve({ flags: [`--feature-gates=CRDValidationRatcheting=${on}`] });
    const { must, ask } = server;
    const { path, name, widgets, widget } = await define(server, loose);
    const object = widget({ a: 7, b: 1 });
    await must(201, "POST", widgets, { body: object });
    const type = "application/merge-patch+json";
    const versions = [version({ spec: strict })];
    await must(200, "PATCH", `${path}/${name}`, { body: { spec: { versions } }, type });
    const refused = { ...object, metadata: { name: "new" } };
    while ((await ask("POST", `${widgets}?dryRun=All`, { body: refused })).status !== 422)
      await new Promise((resolve) => setImmediate(resolve));
    await must(status, "PATCH", `${widgets}/w`, { body: patch, type });
  });

const releases: [rule: string, release: string, status: number][] = [
  ["quantity(self.q).isGreaterThan(quantity('1'))", "1.27", 422],
  ["quantity(self.q).isGreaterThan(quantity('1'))", "1.28", 201],
  ["self.?q.orValue('') != ''", "1.28", 201],
  ["matches(self.q, '^[0-9]$')", "1.27", 422],
  ["matches(self.q, '^[0-9]$')", "1.28", 201],
  ["sets.contains([self.q], ['2'])", "1.28", 422],
  ["sets.contains([self.q], ['2'])", "1.29", 201],
  ["isIP(self.q) || true", "1.29", 422],
  ["isIP(self.q) || true", "1.30", 201],
  ["!format.dns1123Label().validate(self.q).hasValue()", "1.30", 422],
  ["!format.dns1123Label().validate(self.q).hasValue()", "1.31", 201],
];
for (const [rule, release, status] of releases)
  test(`a definition with ${rule} is answered with ${status} for --expression-release=${release}`, async () => {
    const flags = [`--expression-release=${release}`, "--feature-gates=AdmissionWebhookMatchConditions=true"];
    const { must } = await serve({ flags });
    const spec = {
      type: "object",
      properties: { q: { type: "string", maxLength: 9 } },
      "x-orch-validations": [{ rule }],
    };
    const path = "/apis/apiextensions.orch.io/v1/customresourcedefinitions";
    await must(status, "POST", path, { body: definition([version({ spec })]) });
    const webhook = {
      name: "a.example.com",
      clientConfig: { url: "https://127.0.0.1:1/" },
      sideEffects: "None",
      admissionReviewVersions: ["v1"],
      matchConditions: [{ name: "m", expression: rule.replaceAll("self", "object") }],
    };
    const hooks = "/apis/admissionregistration.orch.io/v1/validatingwebhookconfigurations";
    await must(status, "POST", hooks, { body: { metadata: { name: "a" }, webhooks: [webhook] } });
  });

const unsupported: [release: string, causes: string[]][] = [
  ["1.28", ["NotSupported spec.q", "Invalid spec"]],
  ["1.29", ["NotSupported spec.q", "Invalid <nil>"]],
];
for (const [release, causes] of unsupported)
  test(`from 1.29 on values outside of an enumeration prevent rules: ${release}`, async () => {
    const server = await serve({ flags: [`--expression-release=${release}`] });
    const properties = { q: { type: "string", enum: ["a"] }, n: { type: "integer" } };
    const spec = { type: "object", properties, "x-orch-validations": [{ rule: "self.n < 5" }] };
    const { widgets, widget } = await define(server, spec);
    const refused = await server.must(422, "POST", widgets, { body: widget({ q: "b", n: 7 }) });
    assert.deepEqual(refused.causes, causes);
  });

const fields = { reason: "FieldValueForbidden", fieldPath: ".a", optionalOldSelf: true };
const known: [release: string, ratcheting: boolean, kept: string[]][] = [
  ["1.27", true, []],
  ["1.28", true, ["reason", "fieldPath"]],
  ["1.29", false, ["reason", "fieldPath"]],
  ["1.29", true, ["reason", "fieldPath", "optionalOldSelf"]],
];
for (const [release, ratcheting, kept] of known)
  test(`rules of ${release} ${ratcheting ? "with" : "without"} ratcheting keep [${kept.join()}]`, async () => {
    const gates = `--feature-gates=CRDValidationRatcheting=${ratcheting}`;
    const { must } = await serve({ flags: [`--expression-release=${release}`, gates] });
    const rule = kept.includes("optionalOldSelf") ? "oldSelf.orValue(self) == self" : "oldSelf == self";
    const spec = { ...loose, "x-orch-validations": [{ rule, ...fields }] };
    const path = "/apis/apiextensions.orch.io/v1/customresourcedefinitions";
    const answer = await must(201, "POST", path, { body: definition([version({ spec })]) });
    const at = "spec.versions.0.schema.openAPIV3Schema.properties.spec.x-orch-validations.0";
    assert.deepEqual(Object.keys(answer.at(at) as object).toSorted(), ["rule", ...kept].toSorted());
  });

test("an earlier release ignores fields stored by a later one", async () => {
  const dir = await mkdtemp(join(tmpdir(), "later-rules-"));
  after(() => rm(dir, { recursive: true, force: true }));
  const spec = { ...loose, "x-orch-validations": [{ rule: "self.a < 5", reason: fields.reason }] };
  const body = definition([version({ spec })]);
  const path = "/apis/apiextensions.orch.io/v1/customresourcedefinitions";
  const rulesOf = async (release: string, method: string): Promise<unknown> => {
    const server = await startServer({ store: { dir }, flags: [`--expression-release=${release}`] });
    try {
      const answer = await server.inject(
        method === "POST"
          ? { method, path, headers: { "content-type": "application/json" }, body: JSON.stringify(body) }
          : { method, path: `${path}/${body.metadata.name}` },
      );
      const { spec: stored } = JSON.parse(Buffer.from(await answer.bytes()).toString()) as typeof body & {
        spec: { versions: { schema: { openAPIV3Schema: { properties: { spec: typeof spec } } } }[] };
      };
      return stored.versions[0]!.schema.openAPIV3Schema.properties.spec["x-orch-validations"];
    } finally {
      await server.stop();
    }
  };
  assert.deepEqual(await rulesOf("1.28", "POST"), [{ rule: "self.a < 5", reason: fields.reason }]);
  assert.deepEqual(await rulesOf("1.27", "GET"), [{ rule: "self.a < 5" }]);
});
