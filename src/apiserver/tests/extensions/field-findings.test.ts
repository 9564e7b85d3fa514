// Errors of strict decoding, with the texts and order of kube-apiserver, and apply of embedded objects.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, define, must, spec, version, widget } from "./custom-resources.fixture.ts";

const inner = {
  type: "object",
  "x-orch-embedded-resource": true,
  properties: { apiVersion: { type: "string" }, kind: { type: "string" }, metadata: { type: "object" } },
};
const defined = await define([version(spec({ known: { type: "string" }, inner }))]);
const widgets = `/apis/${defined.group}/v1/namespaces/default/widgets`;
const [json, yaml, apply, jsonPatch] = [
  "application/json",
  "application/yaml",
  "application/apply-patch+yaml",
  "application/json-patch+json",
];
const apiVersion = `${defined.group}/v1`;

test("metadata of an embedded object can be applied", async () => {
  const object = { apiVersion: "v1", kind: "Pod", metadata: { name: "a", namespace: "b" } };
  const body = widget(defined, "inside", { spec: { inner: object } });
  const answer = await must(201, "PATCH", `${widgets}/inside?fieldManager=m`, { body, type: apply });
  assert.deepEqual(answer.at("spec.inner"), object);
});

const asJson = `{"apiVersion":"${apiVersion}","kind":"Widget",
"metadata":{"name":"x","odd":1,"name":"x"},
"spec":{"odd":1,"inner":{"apiVersion":"v1","kind":"Pod","metadata":{"odd":1}},"known":"a","known":"b"}}`;
const asYaml = `apiVersion: ${apiVersion}
kind: Widget
metadata:
  name: x
  name: x
  odd: 1
spec:
  odd: 1
  known: a
  known: b
  inner: {apiVersion: v1, kind: Pod, metadata: {odd: 1}}
`;
const operations = `[{"op":"add","path":"/spec/known","value":"c","odd":1},
{"op":"add","path":"/spec/none","path":"/spec/known","value":"d"}]`;
const unknown =
  'unknown field "metadata.odd", unknown field "spec.odd", unknown field "spec.inner.metadata.odd"';

const findings: [
  name: string,
  method: string,
  path: string,
  body: string,
  media: string,
  expected: string,
][] = [
  [
    "JSON: duplicate fields are reported first",
    "POST",
    "",
    asJson,
    json,
    `strict decoding error: duplicate field "metadata.name", duplicate field "spec.known", ${unknown}`,
  ],
  [
    "YAML: duplicate fields are reported as one error",
    "POST",
    "",
    asYaml,
    yaml,
    `strict decoding error: yaml: unmarshal errors:\n  line 5: key "name" already set in map\n  line 10: key "known" already set in map, ${unknown}`,
  ],
  [
    "an applied configuration",
    "PATCH",
    "/x",
    `apiVersion: ${apiVersion}\nkind: Widget\nmetadata: {name: x}\nspec:\n  known: a\n  known: b\n`,
    apply,
    'error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  line 6: key "known" already set in map',
  ],
  [
    "a JSON patch: in the order of its operations",
    "PATCH",
    "/there",
    operations,
    jsonPatch,
    'json patch unknown field "[0].odd", json patch duplicate field "[1].path"',
  ],
];
await must(201, "POST", widgets, { body: widget(defined, "there", { spec: { known: "a" } }) });
for (const [name, method, path, body, media, message] of findings)
  test(`strict decoding errors of ${name}`, async () => {
    const url = `${widgets}${path}?fieldValidation=Strict&fieldManager=m`;
    const answer = await ask(method, url, { body: Buffer.from(body), type: media });
    assert.ok(String(answer.at("message")).includes(message), String(answer.at("message")));
  });
