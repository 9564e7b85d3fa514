// Custom resources that do not match their definition: in a part that is not validated, after the definition
// changed, or in a request that is refused.
import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "#kit";
import { ask, define, definitions, must, spec, version, widget } from "./custom-resources.fixture.ts";

const text = { type: "string" };
const merge = "application/merge-patch+json";
const applying = "application/apply-patch+yaml";
const open = { "x-orch-preserve-unknown-fields": true };
const defined = await define([
  version(
    {
      ...spec({ a: text, id: { type: "string", format: "uuid3" }, any: open }),
      status: { type: "object", properties: { b: text } },
    },
    { subresources: { status: {} } },
  ),
]);
const widgets = `/apis/${defined.group}/v1/namespaces/default/widgets`;

test("an object with a status of the wrong type has no managed fields", async () => {
  const sent = { spec: { a: "1" }, status: "x" };
  const made = await must(201, "POST", widgets, { body: widget(defined, "s", sent) });
  assert.equal(made.at("metadata.managedFields"), undefined);
  const right = await must(201, "POST", widgets, {
    body: widget(defined, "t", { ...sent, status: { b: "y" } }),
  });
  assert.equal((right.at("metadata.managedFields") as unknown[]).length, 1);
  const body = {
    ...widget(defined, "t", { spec: { a: "2" }, status: 1 }),
    metadata: right.at("metadata"),
  };
  const answer = await must(200, "PUT", `${widgets}/t`, { body });
  assert.equal(answer.at("metadata.managedFields"), undefined);
});

test("apply fails for an object that no longer matches the definition", async () => {
  const changing = await define([version(spec({ a: text }))]);
  const path = `/apis/${changing.group}/v1/namespaces/default/widgets`;
  await must(201, "POST", path, { body: widget(changing, "w", { spec: { a: "1" } }) });
  const versions = [version(spec({ a: { type: "object", properties: {} }, b: text }))];
  await must(200, "PATCH", `${definitions}/${changing.name}`, { body: { spec: { versions } }, type: merge });
  const body = widget(changing, "w", { spec: { b: "2" } });
  const apply = () => ask("PATCH", `${path}/w?fieldManager=me&dryRun=All`, { body, type: applying });
  await eventually(async () => String((await apply()).at("message")).startsWith("failed"));
  const answer = await apply();
  assert.equal(answer.status, 400);
  assert.equal(
    answer.at("message"),
    `failed to create typed live object (default/w; ${changing.group}/v1, Kind=Widget): .spec.a: expected map, got &{1}`,
  );
});

const refused: [name: string, metadata: unknown, message: string][] = [
  ["a string for the metadata", "x", "json: cannot unmarshal string into Go value of type v1.ObjectMeta"],
  [
    "a field",
    { name: 1 },
    "json: cannot unmarshal number into Go struct field ObjectMeta.name of type string",
  ],
  [
    "a nested field",
    { name: "a", ownerReferences: [{ controller: "x" }] },
    "json: cannot unmarshal string into Go struct field OwnerReference.ownerReferences.controller of type bool",
  ],
  [
    "the first error by field name",
    { labels: 1, annotations: 1 },
    "json: cannot unmarshal number into Go struct field ObjectMeta.annotations of type map[string]string",
  ],
  [
    "an invalid time before a field of the wrong type",
    { annotations: 1, creationTimestamp: "x" },
    'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"',
  ],
];
for (const [name, metadata, message] of refused)
  test(`metadata of a custom resource is decoded separately: ${name}`, async () => {
    const answer = await must(400, "POST", widgets, { body: { ...widget(defined, "a", {}), metadata } });
    assert.equal(answer.at("message"), `Widget in version "v1" cannot be handled as a Widget: ${message}`);
  });

test("applied metadata of the wrong type is reported with all other errors", async () => {
  const body = {
    ...widget(defined, "u", { spec: { a: 1 } }),
    metadata: { name: "u", labels: "x" },
  };
  const answer = await must(400, "PATCH", `${widgets}/u?fieldManager=me`, { body, type: applying });
  assert.match(
    String(answer.at("message")),
    /errors:\n {2}\.metadata\.labels: expected map, got &\{x\}\n {2}\.spec\.a: expected string, got &value\.valueUnstructured\{Value:1\}$/,
  );
});

test("the error of a rejected patch has the patched object", async () => {
  await must(201, "POST", widgets, { body: widget(defined, "p", { spec: { a: "1" } }) });
  const body = { metadata: { labels: 1 } };
  const answer = await must(422, "PATCH", `${widgets}/p`, { body, type: merge });
  assert.match(String(answer.at("message")), /patch: Invalid value: "\{\\"apiVersion\\":.*\\"labels\\":1,/);
});

test("an applied null is not stored, and a format accepts values that are not strings", async () => {
  await must(201, "POST", widgets, { body: widget(defined, "n", { spec: { a: "1" } }) });
  const body = widget(defined, "n", { spec: { any: null, id: [] } });
  const answer = await must(200, "PATCH", `${widgets}/n?fieldManager=me`, { body, type: applying });
  assert.deepEqual(answer.at("spec"), { a: "1", id: [] });
  assert.deepEqual((await must(200, "GET", `${widgets}/n`)).at("spec"), { a: "1", id: [] });
});

test("a no-op write of an object is stored according to the current definition", async () => {
  const changing = await define([version(spec({ a: text, b: text }))]);
  const path = `/apis/${changing.group}/v1/namespaces/default/widgets`;
  await must(201, "POST", path, { body: widget(changing, "w", { spec: { b: "1" } }) });
  const become = async (properties: Record<string, object>, seen: object): Promise<void> => {
    const versions = [version(spec(properties))];
    const body = { spec: { versions } };
    await must(200, "PATCH", `${definitions}/${changing.name}`, { body, type: merge });
    await eventually(async () => {
      const { at: read } = await ask("GET", `${path}/w`);
      return JSON.stringify(read("spec")) === JSON.stringify(seen);
    });
  };
  await become({ a: { ...text, default: "d" } }, { a: "d" });
  await must(200, "PATCH", `${path}/w`, { body: {}, type: merge });
  await become({ a: text, b: text }, { a: "d" });
});

test("a request for an unknown subresource of a deprecated version has the deprecation warning", async () => {
  const old = await define([version(spec({}), { deprecated: true })]);
  const path = `/apis/${old.group}/v1/namespaces/default/widgets/a/status`;
  const { headers } = await must(404, "GET", path);
  assert.match(String(headers["warning"]), /Widget is deprecated/);
});

test("rules are not evaluated for an object whose metadata is incomplete", async () => {
  const rules = [{ rule: "self == 'y'", message: "must be y" }];
  const { group } = await define([version(spec({ a: { ...text, "x-orch-validations": rules } }))]);
  const path = `/apis/${group}/v1/namespaces/default/widgets`;
  const sent = { apiVersion: `${group}/v1`, kind: "Widget", spec: { a: "x" } };
  const fields = (answer: { at(path: string): unknown }): unknown[] =>
    (answer.at("details.causes") as { field: string }[]).map(({ field }) => field);
  const nameless = await must(422, "POST", path, { body: { ...sent, metadata: {} } });
  assert.deepEqual(fields(nameless), ["metadata.name", "<nil>"]);
  const named = await must(422, "POST", path, { body: { ...sent, metadata: { name: "a" } } });
  assert.deepEqual(fields(named), ["spec.a"]);
});
