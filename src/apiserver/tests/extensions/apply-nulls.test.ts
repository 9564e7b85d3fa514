// Nulls and owners in custom resources: nulls are dropped from what is sent whole and judged in what is applied.
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
  test(`null for the field ${field} is answered with ${applied} when it is applied`, async () => {
    const sent = widget(defined, field, { spec: { [field]: null } });
    const answer = await must(201, "POST", `${widgets}?dryRun=All`, { body: sent });
    assert.deepEqual(answer.at("spec"), created);
    const type = "application/apply-patch+yaml";
    await must(applied, "PATCH", `${widgets}/${field}?fieldManager=m`, { body: sent, type });
  });

const resets: [name: string, managers: readonly object[], left: number][] = [
  ["an empty list of owners is no list", [], 1],
  ["a list of one empty owner forgets them", [{}], 0],
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

test("null for fields that somebody else owns leaves them as they are", async () => {
  const type = "application/apply-patch+yaml";
  const path = `${widgets}/shared?fieldManager=`;
  const own = widget(defined, "shared", { spec: { object: { a: 1 } } });
  await must(201, "PATCH", `${path}one`, { body: own, type });
  const other = widget(defined, "shared", { spec: { object: null } });
  const answer = await must(200, "PATCH", `${path}other`, { body: other, type });
  assert.deepEqual(answer.at("spec.object"), { a: 1 });
  assert.equal((await ask("GET", `${widgets}/shared`)).status, 200);
});
