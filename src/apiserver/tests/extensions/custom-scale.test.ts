// The scale of custom resources: objects without replicas, and tables.
import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "#kit";
import { ask, define, must, spec, version, widget } from "./custom-resources.fixture.ts";

const scale = { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" };
const properties = spec({ replicas: { type: "integer" } });
const defined = await define([version(properties, { subresources: { status: {}, scale } })]);
const widgets = `/apis/${defined.group}/v1/namespaces/default/widgets`;

test("an object without replicas has no scale until one is written", async () => {
  await must(201, "POST", widgets, { body: widget(defined, "bare", {}) });
  assert.equal(
    (await must(500, "GET", `${widgets}/bare/scale`)).at("message"),
    'Internal error occurred: the spec replicas field ".spec.replicas" does not exist',
  );
  const type = "application/merge-patch+json";
  const absent = async (method: string): Promise<unknown> =>
    (await must(404, method, `${widgets}/none/scale`, { body: {}, type })).at("details.kind");
  assert.deepEqual([await absent("GET"), await absent("PATCH")], ["widgets", "widgets"]);
  await must(400, "PATCH", `${widgets}/bare/scale`, { body: { metadata: { labels: { a: "b" } } }, type });
  const sent = { metadata: { name: "bare" }, spec: { replicas: 2 } };
  const answer = await must(200, "PUT", `${widgets}/bare/scale`, { body: sent });
  assert.equal(answer.at("spec.replicas"), 2);
  assert.equal((await must(200, "GET", `${widgets}/bare`)).at("spec.replicas"), 2);
});

test("a path of a scale with the name of an inherited property changes only the object", async () => {
  const open = { "x-orch-preserve-unknown-fields": true };
  const inherited = {
    ...scale,
    specReplicasPath: ".spec.__proto__.polluted",
    statusReplicasPath: ".status.x",
  };
  const subresources = { scale: { ...inherited, labelSelectorPath: ".status.constructor.name" } };
  const kind = await define([version({ spec: { type: "object", ...open } }, { subresources })]);
  const path = `/apis/${kind.group}/v1/namespaces/default/widgets`;
  await must(201, "POST", path, { body: widget(kind, "w", { spec: {} }) });
  const body = { metadata: { name: "w" }, spec: { replicas: 3 } };
  await must(200, "PUT", `${path}/w/scale`, { body });
  assert.equal(({} as Record<string, unknown>)["polluted"], undefined);
  assert.match((await must(200, "GET", `${path}/w`)).text, /"spec":\{"__proto__":\{"polluted":3\}\}/);
  const answer = await must(200, "GET", `${path}/w/scale`);
  assert.deepEqual([answer.at("spec.replicas"), answer.at("status.selector")], [3, undefined]);
});

test("a table of a scale has the columns of its kind", async () => {
  await must(201, "POST", widgets, { body: widget(defined, "seen", { spec: { replicas: 1 } }) });
  const accept = "application/json;as=Table;v=v1;g=meta.orch.io";
  const answer = await must(200, "GET", `${widgets}/seen/scale`, { accept });
  const columns = answer.at("columnDefinitions") as { name: string; type: string; format: string }[];
  assert.deepEqual(
    columns.map(({ name, type, format }) => [name, type, format]),
    [
      ["Name", "string", "name"],
      ["Desired", "integer", ""],
      ["Available", "integer", ""],
      ["Age", "date", ""],
    ],
  );
});

test("a scale update keeps field ownership in other versions, whose replicas path may differ", async () => {
  const old = { ...scale, specReplicasPath: ".spec.count" };
  const both = spec({ replicas: { type: "integer" }, count: { type: "integer" }, a: { type: "string" } });
  const kind = await define([
    version(both, { subresources: { scale } }),
    version(both, { name: "v1beta1", storage: false, subresources: { scale: old } }),
    version(both, { name: "v1alpha1", storage: false }),
  ]);
  const at = (served: string): string => `/apis/${kind.group}/${served}/namespaces/default/widgets`;
  const type = "application/merge-patch+json";
  const body = widget(kind, "w", { spec: { a: "a", count: 1, replicas: 1 } }, "v1beta1");
  await must(201, "POST", `${at("v1beta1")}?fieldManager=first`, { body });
  const label = { metadata: { labels: { a: "b" } } };
  await must(200, "PATCH", `${at("v1alpha1")}/w?fieldManager=second`, { body: label, type });
  const change = { spec: { replicas: 5 } };
  await must(200, "PATCH", `${at("v1")}/w/scale?fieldManager=third`, { body: change, type });
  const owners = (await must(200, "GET", `${at("v1")}/w`)).at("metadata.managedFields");
  assert.deepEqual(
    (owners as { manager: string; apiVersion: string; fieldsV1: object }[]).map((owner) => [
      owner.manager,
      owner.apiVersion.split("/")[1],
      Object.keys((owner.fieldsV1 as { "f:spec"?: object })["f:spec"] ?? {}),
    ]),
    [
      ["third", "v1", ["f:replicas"]],
      ["first", "v1beta1", [".", "f:a", "f:replicas"]],
      ["second", "v1alpha1", []],
    ],
  );
});

test("a webhook for the scale of one version is called for the scales of other versions", async () => {
  const kind = await define([
    version(properties, { subresources: { scale } }),
    version(properties, { name: "v1beta1", storage: false, subresources: { scale } }),
    version(properties, { name: "v1alpha1", storage: false }),
  ]);
  const at = (served: string): string => `/apis/${kind.group}/${served}/namespaces/default/widgets`;
  await must(201, "POST", at("v1"), { body: widget(kind, "w", { spec: { replicas: 1 } }) });
  const rule = { apiGroups: [kind.group], apiVersions: ["v1", "v1alpha1"], resources: ["widgets/scale"] };
  const webhook = {
    name: "nobody.example.com",
    clientConfig: { url: "https://127.0.0.1:1/" },
    rules: [{ ...rule, operations: ["UPDATE"] }],
    admissionReviewVersions: ["v1"],
    sideEffects: "None",
  };
  const hooks = "/apis/admissionregistration.orch.io/v1/validatingwebhookconfigurations";
  await must(201, "POST", hooks, { body: { metadata: { name: kind.group }, webhooks: [webhook] } });
  const body = { spec: { replicas: 2 } };
  const type = "application/merge-patch+json";
  for (const served of ["v1", "v1beta1"])
    await eventually(
      async () => (await ask("PATCH", `${at(served)}/w/scale`, { body, type })).status === 500,
    );
});
