// Nulls and managed fields in custom resources: nulls are dropped on create and update, validated on apply.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, define, must, spec, version, widget } from "./custom-resources.fixture.ts";

const defined = await define([
  version(
    spec({
      plain: { type: "string" },
      object: { type: "object", properties: { a: { type: "integer" } } },
      nullable: { type: "string", nullable: true },
      filled: { type: "string", default: "x" },
    }),
  ),
]);
const widgets = `/apis/${defined.group}/v1/namespaces/default/widgets`;

const cases: [field: string, created: unknown, applied: number][] = [
  ["plain", { filled: "x" }, 422],
  ["object", { filled: "x" }, 422],
  ["nullable", { filled: "x", nullable: null }, 201],
  ["filled", { filled: "x" }, 201],
];
for (const [field, created, applied] of cases)
  test(`applying null to the field ${field} answers ${applied}`, async () => {
    const sent = widget(defined, field, { spec: { [field]: null } });
    const answer = await must(201, "POST", `${widgets}?dryRun=All`, { body: sent });
    assert.deepEqual(answer.at("spec"), created);
    const type = "application/apply-patch+yaml";
    await must(applied, "PATCH", `${widgets}/${field}?fieldManager=m`, { body: sent, type });
  });

const resets: [name: string, managers: readonly object[], left: number][] = [
  ["an empty list of managed fields is ignored", [], 1],
  ["a list of one empty entry resets managed fields", [{}], 0],
];
for (const [name, managers, left] of resets)
  test(name, async () => {
    const body = widget(defined, `owners-${left}`, { spec: { plain: "a" } });
    await must(201, "POST", widgets, { body });
    const patch = { metadata: { managedFields: managers } };
    const type = "application/merge-patch+json";
    const answer = await must(200, "PATCH", `${widgets}/owners-${left}`, { body: patch, type });
    assert.equal(((answer.at("metadata.managedFields") ?? []) as unknown[]).length, left);
  });

test("applying null to fields of another owner leaves them unchanged", async () => {
  const type = "application/apply-patch+yaml";
  const path = `${widgets}/shared?fieldManager=`;
  const own = widget(defined, "shared", { spec: { object: { a: 1 } } });
  await must(201, "PATCH", `${path}one`, { body: own, type });
  const other = widget(defined, "shared", { spec: { object: null } });
  const answer = await must(200, "PATCH", `${path}other`, { body: other, type });
  assert.deepEqual(answer.at("spec.object"), { a: 1 });
  assert.equal((await ask("GET", `${widgets}/shared`)).status, 200);
});
