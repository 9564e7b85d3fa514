import assert from "node:assert/strict";
import { test } from "node:test";
import { dialects } from "#dialect";
import { eventually } from "#kit";
import { type Json, at, serve } from "../../server.fixture.ts";
import { deliveryDefinitions } from "./delivery-definitions.fixture.ts";
import { networkDefinitions } from "./network-definitions.fixture.ts";
import { type Described, definitionOf, sampleOf, schemaOf, withValue } from "./notation.fixture.ts";

const { must, ask, place } = await serve({ dialect: "kubernetes" });
const x = dialects.kubernetes.wire.extensionPrefix;
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const all = [...networkDefinitions, ...deliveryDefinitions];
const namespace = await place();

const pathOf = ({ group, version, plural, cluster }: Described): string =>
  `/apis/${group}/${version}${cluster ? "" : `/namespaces/${namespace}`}/${plural}`;

/** Returns an object with all fields set, and the changes required by its rules. */
function sample(described: Described): Json {
  const { group, version, kind } = described;
  let object: Json = {
    apiVersion: `${group}/${version}`,
    kind,
    metadata: { name: "sample" },
    spec: sampleOf(schemaOf(described.spec, x)),
  };
  for (const [path, value] of Object.entries(described.sample ?? {})) object = withValue(object, path, value);
  return object;
}

async function served(described: Described): Promise<void> {
  await eventually(async () => (await ask("GET", pathOf(described))).status === 200);
}

test("there are at least 40 definitions, and the server accepts all of them", async () => {
  assert.ok(all.length >= 40, `${all.length}`);
  for (const described of all) await must(201, "POST", definitions, { body: definitionOf(described, x) });
  for (const described of all) await served(described);
});

for (const described of all) {
  const { kind, group, version, plural } = described;
  test(`a ${kind} of ${group} keeps all fields, has a table, and is described`, async () => {
    const path = pathOf(described);
    const body = sample(described);
    const made = await must(201, "POST", `${path}?fieldValidation=Strict`, { body });
    assert.deepEqual(made.at("spec"), body["spec"]);
    const again = await must(200, "PUT", `${path}/sample`, { body: made.json });
    assert.equal(again.at("metadata.resourceVersion"), made.at("metadata.resourceVersion"));
    const applied = await must(200, "PATCH", `${path}/sample?fieldManager=me&force=true`, {
      body,
      type: "application/apply-patch+yaml",
    });
    assert.deepEqual(applied.at("spec"), body["spec"]);
    const table = await must(200, "GET", path, { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" });
    const columns = described.columns?.split(";").map((column) => column.split("=")[0]) ?? ["Age"];
    assert.deepEqual(
      (table.at("columnDefinitions") as { name: string }[]).map(({ name }) => name),
      ["Name", ...columns],
    );
    const name = [...group.split(".").reverse(), version, kind].join(".");
    const { components } = (await must(200, "GET", `/openapi/v3/apis/${group}/${version}`)).json;
    const schema = (at(components, "schemas") as Json)[name];
    assert.equal(at(schema, "description"), `A ${kind}.`);
    const [first] = Object.keys(at(schema, "properties.spec.properties") as Json);
    assert.equal(at(schema, `properties.spec.properties.${first}.description`), `The ${first}.`);
    const kinds = (await must(200, "GET", `/apis/${group}/${version}`)).at("resources") as Json[];
    assert.ok(kinds.some((resource) => resource["name"] === plural && resource["kind"] === kind));
  });

  for (const [path, value, says] of described.refused ?? [])
    test(`a ${kind} that breaks a rule is refused: ${says}`, async () => {
      const body = withValue(withValue(sample(described), "metadata.name", "other"), path, value);
      const { text } = await must(422, "POST", pathOf(described), { body });
      assert.ok(text.includes(says), text);
    });
}

test("a transition rule rejects a change", async () => {
  const [certificates] = all;
  const { text } = await must(422, "PATCH", `${pathOf(certificates!)}/sample`, {
    body: { spec: { secretName: "another" } },
    type: "application/merge-patch+json",
  });
  assert.ok(text.includes("secretName is immutable"), text);
});
