import assert from "node:assert/strict";
import { test } from "node:test";
import { invalidValue } from "#base";
import { dialects } from "#dialect";
import { changedErrors } from "./ratchet.ts";
import { structuralOf } from "./structural.ts";

const keyed = {
  type: "array",
  "x-orch-list-type": "map",
  "x-orch-list-map-keys": ["k"],
  items: { type: "object", properties: { k: { type: "string" }, v: { type: "integer" } } },
};
const plain = { type: "array", items: { type: "integer" } };
const schema = structuralOf(
  {
    type: "object",
    properties: {
      a: { type: "integer" },
      m: { type: "object", additionalProperties: { type: "integer" } },
      keyed,
      plain,
    },
  },
  dialects.orch,
);

const cases: [name: string, field: string, old: object, object: object, counts: boolean][] = [
  ["an unchanged value", "a", { a: 1 }, { a: 1, m: {} }, false],
  ["a changed value", "a", { a: 1 }, { a: 2 }, true],
  ["a new value", "a", {}, { a: 2 }, true],
  ["a part of an unchanged value", "m[x.y]", { m: { "x.y": 1 } }, { m: { "x.y": 1 } }, false],
  ["an unchanged key next to a changed one", "m.x.y", { m: { "x.y": 1 } }, { m: { "x.y": 1, z: 2 } }, false],
  ["a changed key", "m.x.y", { m: { "x.y": 1 } }, { m: { "x.y": 2 } }, true],
  [
    "a key that starts with a shorter one",
    "m.x.y",
    { m: { x: { y: 1 }, "x.y": 1 } },
    { m: { x: { y: 2 }, "x.y": 1 } },
    false,
  ],
  ["a missing field of a changed value", "m.z", { m: { a: 1 } }, { m: { a: 2 } }, true],
  ["a missing field of an unchanged value", "m.z", { m: { a: 1 } }, { m: { a: 1 }, a: 1 }, false],
  [
    "an item found by its key",
    "keyed[1].v",
    { keyed: [{ k: "a", v: 1 }] },
    { keyed: [{ k: "b" }, { k: "a", v: 1 }] },
    false,
  ],
  [
    "an item whose value changed",
    "keyed[0].v",
    { keyed: [{ k: "a", v: 1 }] },
    { keyed: [{ k: "a", v: 2 }] },
    true,
  ],
  ["an item of an unchanged list without keys", "plain[0]", { plain: [1] }, { plain: [1], a: 1 }, false],
  ["an item of a changed list without keys", "plain[0]", { plain: [1] }, { plain: [1, 2] }, true],
];
for (const [name, field, old, object, counts] of cases)
  test(`an error about ${name} ${counts ? "counts" : "does not count"}`, () => {
    const errors = [invalidValue(field, 1, "wrong")];
    assert.equal(changedErrors(errors, object, old, schema).length, counts ? 1 : 0);
  });
