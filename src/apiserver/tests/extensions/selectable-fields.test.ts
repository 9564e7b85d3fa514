// Selectable fields of custom resources (releases from 1.30 on): declared by versions of definitions.
import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "#kit";
import { type Json, each, serve } from "../../server.fixture.ts";
import { definition, version } from "./custom-resources.fixture.ts";

const { must, ask, watch } = await serve({ flags: ["--release=1.32"] });
const definitions = "/apis/apiextensions.orch.io/v1/customresourcedefinitions";
const properties = {
  spec: {
    type: "object",
    properties: {
      color: { type: "string" },
      size: { type: "integer", default: 1 },
      open: { type: "boolean" },
      list: { type: "array", items: { type: "string" } },
    },
  },
};
const selecting = (...paths: string[]): Json => ({
  selectableFields: paths.map((jsonPath) => ({ jsonPath })),
});

async function define(versions: Json[]): Promise<string> {
  const body = definition(versions);
  await must(201, "POST", definitions, { body });
  const { group } = body["spec"] as { group: string };
  await eventually(async () => (await ask("GET", `/apis/${group}`)).status === 200);
  return group;
}
const widget = (group: string, name: string, spec: Json): Json => ({
  apiVersion: `${group}/v1`,
  kind: "Widget",
  metadata: { name },
  spec,
});
const group = await define([version(properties, selecting(".spec.color", ".spec.size", ".spec.open"))]);
const widgets = `/apis/${group}/v1/namespaces/default/widgets`;
for (const [name, spec] of [
  ["a", { color: "red", open: true }],
  ["b", { color: "blue", size: 3 }],
  ["c", { open: true }],
] as const)
  await must(201, "POST", widgets, { body: widget(group, name, spec) });

const selections: [selector: string, names: string[]][] = [
  ["spec.color=red", ["a"]],
  ["spec.color!=red", ["b", "c"]],
  ["spec.color=", ["c"]],
  ["spec.size=1", ["a", "c"]],
  ["spec.open=true,spec.color=red", ["a"]],
  ["spec.size=3,metadata.name=b", ["b"]],
];
for (const [selector, names] of selections) {
  test(`the selector ${selector} selects ${names.join(" and ")}`, async () => {
    const { at } = await must(200, "GET", `${widgets}?fieldSelector=${encodeURIComponent(selector)}`);
    assert.deepEqual(each(at("items"), "metadata.name"), names);
  });
}

test("a field that the version does not declare is not supported", async () => {
  const { text } = await must(400, "GET", `${widgets}?fieldSelector=spec.list%3Dx`);
  assert.match(text, /field label not supported: spec.list/);
});

test("a watch sees an object begin and end to match, and a collection is deleted by fields", async () => {
  const { at } = await must(200, "GET", widgets);
  const from = String(at("metadata.resourceVersion"));
  const watching = watch(`${widgets}?watch=1&resourceVersion=${from}&fieldSelector=spec.color%3Dgreen`);
  const type = "application/merge-patch+json";
  const paint = (color: string) => must(200, "PATCH", `${widgets}/b`, { body: { spec: { color } }, type });
  await paint("green");
  await paint("blue");
  const frames = await watching.next(2);
  watching.stop();
  assert.deepEqual(each(frames, "type"), ["ADDED", "DELETED"]);
  await must(201, "POST", widgets, { body: widget(group, "d", { color: "black" }) });
  await must(200, "DELETE", `${widgets}?fieldSelector=spec.color%3Dblack`);
  const left = await must(200, "GET", widgets);
  assert.deepEqual(each(left.at("items"), "metadata.name"), ["a", "b", "c"]);
});

test("every version selects by its own fields", async () => {
  const older = version(properties, { name: "v1beta1", storage: false, ...selecting(".spec.size") });
  const both = await define([
    { ...version(properties, selecting(".spec.color")) },
    { ...older, schema: version({ ...properties, extra: { type: "string" } })["schema"] },
  ]);
  const path = (name: string): string => `/apis/${both}/${name}/namespaces/default/widgets`;
  await must(201, "POST", path("v1"), { body: widget(both, "a", { color: "red", size: 2 }) });
  await must(201, "POST", path("v1"), { body: widget(both, "b", { color: "blue" }) });
  const found = await must(200, "GET", `${path("v1beta1")}?fieldSelector=spec.size%3D2`);
  assert.deepEqual(each(found.at("items"), "metadata.name"), ["a"]);
  await must(400, "GET", `${path("v1beta1")}?fieldSelector=spec.color%3Dred`);
  await must(400, "GET", `${path("v1")}?fieldSelector=spec.size%3D2`);
  const watching = watch(`${path("v1beta1")}?watch=1&fieldSelector=spec.size%3D2`);
  const [frame] = await watching.next(1);
  watching.stop();
  assert.deepEqual(each([frame], "object.metadata.name"), ["a"]);
});

test("a default that the definition gets later applies to stored objects", async () => {
  const plain = { spec: { type: "object", properties: { color: { type: "string" } } } };
  const body = definition([version(plain, selecting(".spec.color"))]);
  await must(201, "POST", definitions, { body });
  const { group: own } = body["spec"] as { group: string };
  const path = `/apis/${own}/v1/namespaces/default/widgets`;
  await eventually(async () => (await ask("GET", path)).status === 200);
  await must(201, "POST", path, { body: widget(own, "a", {}) });
  const red = { spec: { type: "object", properties: { color: { type: "string", default: "red" } } } };
  const type = "application/merge-patch+json";
  const versions = [version(red, selecting(".spec.color"))];
  await must(200, "PATCH", `${definitions}/widgets.${own}`, { body: { spec: { versions } }, type });
  await eventually(async () => {
    const { at } = await must(200, "GET", `${path}?fieldSelector=spec.color%3Dred`);
    return (at("items") as Json[]).length === 1;
  });
});

test("the published schemas name the fields", async () => {
  const { json } = await must(200, "GET", `/openapi/v3/apis/${group}/v1`);
  const schemas = (json["components"] as Json)["schemas"] as Record<string, Json>;
  const name = [...group.split(".").reverse(), "v1", "Widget"].join(".");
  const expected = ["spec.color", "spec.size", "spec.open"].map((fieldPath) => ({ fieldPath }));
  for (const each of [name, `${name}List`])
    assert.deepEqual(schemas[each]!["x-orch-selectable-fields"], expected);
});

const wrong: [name: string, paths: string[], message: RegExp][] = [
  ["an empty path", [""], /selectableFields\[0\].jsonPath: Required value/],
  ["an array", [".spec.list[0]"], /is an invalid path: array notation is not allowed/],
  ["an unknown field", [".spec.none"], /is an invalid path: does not refer to a valid field/],
  ["a path without a dot", ["spec"], /is an invalid path: expected \[ or \. but got: spec/],
  ["an unfinished path", [".spec."], /is an invalid path: unexpected end of JSON path/],
  ["an object", [".spec"], /must point to a field of type string, boolean or integer/],
  ["a field twice", [".spec.color", ".spec.color"], /selectableFields\[1\].jsonPath: Duplicate value/],
];
for (const [name, paths, message] of wrong) {
  test(`a definition that selects ${name} is rejected`, async () => {
    const body = definition([version(properties, selecting(...paths))]);
    const { text } = await must(422, "POST", definitions, { body });
    assert.match(text, message);
    assert.match(text, /spec\.selectableFields/);
  });
}

test("metadata and more than eight fields are rejected", async () => {
  const names = Array.from({ length: 9 }, (_, i) => `f${i}`);
  const many = {
    metadata: { type: "object", properties: { name: { type: "string" } } },
    ...Object.fromEntries(names.map((name) => [name, { type: "string" }])),
  };
  const first = definition([version(many, selecting(".metadata.name"))]);
  const { text } = await must(422, "POST", definitions, { body: first });
  assert.match(text, /must not point to fields in metadata/);
  const second = definition([version(many, selecting(...names.map((name) => `.${name}`)))]);
  assert.match(
    (await must(422, "POST", definitions, { body: second })).text,
    /Too many: 9: must have at most 8 items/,
  );
});

test("versions that agree on their fields but not on their schemas are rejected, as in the original", async () => {
  const other = {
    ...version({ spec: properties.spec, extra: { type: "string" } }),
    name: "v2",
    storage: false,
  };
  const fields = selecting(".spec.color");
  const body = definition([version(properties, fields), { ...other, ...fields }]);
  const { text } = await must(422, "POST", definitions, { body });
  assert.match(
    text,
    /spec\.selectableFields: Invalid value: \\"\\": selectableFields may only be set when validations.schema is included/,
  );
});

test("in release 1.27 the field is unknown, and schemas are published without it", async () => {
  const { must: plain } = await serve();
  const body = definition([version(properties, selecting(".spec.color"))]);
  const { text } = await plain(400, "POST", `${definitions}?fieldValidation=Strict`, { body });
  assert.match(text, /unknown field \\"spec.versions\[0\].selectableFields\\"/);
});
