import assert from "node:assert/strict";
import { test } from "node:test";
import { fromStored, uidOf } from "./cached-object.ts";
import { copyItem, itemBytes, unspliced } from "./unspliced.ts";

const encoded = Buffer.from(
  '{"kind":"Thing","apiVersion":"v1","metadata":{"name":"a","namespace":"n","uid":"7","labels":{"ä":"b"}},"x":1}',
);
const known = {
  namespace: "n",
  name: "a",
  select: () => ({ labels: { ä: "b" }, fields: { color: "red" } }),
};

test("an object for one answer equals a cached one", () => {
  const held = fromStored("/n/a", 42, encoded, known);
  const made = unspliced("/n/a", 42, encoded, known);
  for (const property of [
    "key",
    "revision",
    "namespace",
    "name",
    "labels",
    "fields",
    "json",
    "line",
  ] as const)
    assert.deepEqual(made[property], held[property]);
  for (const property of ["typeHeaderBytes", "revisionStart", "revisionEnd"] as const)
    assert.equal(made[property], held[property]);
});

for (const [name, item] of [
  ["cached", fromStored("/n/a", 42, encoded, known)],
  ["for one answer", unspliced("/n/a", 42, encoded, known)],
] as const)
  test(`an object that is ${name} is copied into a list without its type`, () => {
    const out = Buffer.alloc(itemBytes(item) + 4, "#");
    assert.equal(copyItem(item, out, 2), itemBytes(item));
    assert.equal(
      out.toString(),
      '##"metadata":{"name":"a","namespace":"n","uid":"7","resourceVersion":"42","labels":{"ä":"b"}},"x":1}##',
    );
  });

test("malformed bytes are refused", () => {
  assert.throws(() => unspliced("/n/a", 42, Buffer.from("{}"), known), /\/n\/a is not an encoded object/);
});

test("an object without a uid has its revision after its name", () => {
  const bare = Buffer.from(
    '{"kind":"T","apiVersion":"v1","metadata":{"name":"a","ownerReferences":[{"uid":"7"}]},"x":1}',
  );
  const held = fromStored("/a", 42, bare, known);
  assert.equal(
    held.json.toString(),
    '{"kind":"T","apiVersion":"v1","metadata":{"name":"a","resourceVersion":"42","ownerReferences":[{"uid":"7"}]},"x":1}',
  );
  assert.equal(uidOf(held), "");
  assert.equal(uidOf(fromStored("/n/a", 42, encoded, known)), "7");
});
