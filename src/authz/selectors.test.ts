import assert from "node:assert/strict";
import { test } from "node:test";
import type { ResourceAttributes } from "#api";
import { matchConditions } from "./match-conditions.ts";
import { dialects } from "#dialect";
import { reviewedSelectors, selectorErrors, selectorsOf } from "./selectors.ts";

const texts: [fields: string, labels: string, found: ReturnType<typeof selectorsOf>][] = [
  ["", "", undefined],
  ["a=b", "", { fields: [{ key: "a", operator: "in", values: ["b"] }], labels: [] }],
  ["a", "x in (", undefined],
  ["a", "x", { fields: [], labels: [{ key: "x", operator: "exists", values: [] }] }],
];
for (const [fields, labels, found] of texts)
  test(`the selectors "${fields}" and "${labels}" are read, or dropped if they are invalid`, () =>
    assert.deepEqual(selectorsOf(fields, labels), found));

const requirement = (key: string, operator: string, ...values: string[]) => ({ key, operator, values });
const reviewed: [name: string, given: ResourceAttributes, fields: string[], labels: string[]][] = [
  ["none", {}, [], []],
  [
    "texts",
    { fieldSelector: { rawSelector: "a=b" }, labelSelector: { rawSelector: "c,d!=e" } },
    ["a in b"],
    ["c exists ", "d notin e"],
  ],
  [
    "requirements",
    {
      fieldSelector: { requirements: [requirement("a", "NotIn", "b")] },
      labelSelector: { requirements: [requirement("c", "DoesNotExist"), requirement("d", "In", "f", "e")] },
    },
    ["a notin b"],
    ["c ! ", "d in e,f"],
  ],
  [
    "requirements that cannot be understood, which are dropped",
    {
      fieldSelector: { requirements: [requirement("a", "In", "b", "c"), requirement("a", "Exists")] },
      labelSelector: { requirements: [requirement("c", "Like", "x"), requirement("-", "Exists")] },
    },
    [],
    [],
  ],
];
for (const [name, given, fields, labels] of reviewed)
  test(`a review states ${name}`, () => {
    const found = reviewedSelectors(given);
    const text = (list: readonly { key: string; operator: string; values: readonly string[] }[] = []) =>
      list.map(({ key, operator, values }) => `${key} ${operator} ${values.join()}`);
    assert.deepEqual([text(found?.fields), text(found?.labels)], [fields, labels]);
  });

const path = "spec.resourceAttributes";
const wrong: [name: string, given: ResourceAttributes, errors: string[]][] = [
  ["nothing", { fieldSelector: {} }, [`${path}.fieldSelector.requirements`]],
  [
    "both forms",
    { labelSelector: { rawSelector: "a", requirements: [requirement("a", "Exists")] } },
    [`${path}.labelSelector.rawSelector`],
  ],
  [
    "values that do not fit the operator, and no key",
    { fieldSelector: { requirements: [requirement("", "In"), requirement("a", "Exists", "b")] } },
    ["0].values", "0].key", "1].values"].map((end) => `${path}.fieldSelector.requirements[${end}`),
  ],
  [
    "an invalid label",
    { labelSelector: { requirements: [requirement("-", "In", "!")] } },
    ["0].key", "0].values[0]"].map((end) => `${path}.labelSelector.requirements[${end}`),
  ],
  ["an operator of a later release", { labelSelector: { requirements: [requirement("a", "Like")] } }, []],
];
for (const [name, given, errors] of wrong)
  test(`a review with ${name} is ${errors.length > 0 ? "invalid" : "valid"}`, () =>
    assert.deepEqual(
      selectorErrors(given).map(({ field }) => field),
      errors,
    ));

test("match conditions can read selectors", () => {
  const source =
    "has(request.resourceAttributes.fieldSelector) && request.resourceAttributes.fieldSelector.requirements.exists(r, r.key == 'a' && r.values == ['b'])";
  const matches = matchConditions([source], "conditions", { dialect: dialects.orch, errors: [] })!;
  const resource = { group: "", version: "v1", resource: "pods", subresource: "", namespace: "", name: "" };
  const list = { user: { name: "ann", groups: [] }, verb: "list", resource };
  assert.equal(matches(list), false);
  assert.equal(matches({ ...list, selectors: selectorsOf("a=b", "") }), true);
});
