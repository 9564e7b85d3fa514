import assert from "node:assert/strict";
import { test } from "node:test";
import { heldAt, hold, saysTheSame, uidOf, withoutRevision } from "./held.ts";

const known = { namespace: "n", name: "a", labels: {}, fields: {} };
const bytes = (text: string): Uint8Array => Buffer.from(text);
const plain = '{"kind":"Thing","apiVersion":"v1","metadata":{"name":"a","uid":"u-1","labels":{}},"spec":{}}';

test("the revision goes right behind the uid, the type header can be cut off", () => {
  const held = hold("k", 42, bytes(plain), known);
  assert.equal(
    held.json.toString(),
    '{"kind":"Thing","apiVersion":"v1","metadata":{"name":"a","uid":"u-1","resourceVersion":"42","labels":{}},"spec":{}}',
  );
  assert.equal(held.json.subarray(held.revisionStart, held.revisionEnd).toString(), "42");
  assert.equal(
    `{${held.json.subarray(held.typeHeaderBytes).toString()}`,
    '{"metadata":{"name":"a","uid":"u-1","resourceVersion":"42","labels":{}},"spec":{}}',
  );
  assert.equal(held.line.at(-1), 10);
});

test("a uid elsewhere, before or behind, is not mistaken for the object's own", () => {
  const tricky =
    '{"kind":"Thing","apiVersion":"v1","metadata":{"name":"\\"uid\\":\\"x\\"","uid":"mine","ownerReferences":[{"uid":"other"}]}}';
  assert.equal(
    (
      JSON.parse(hold("k", 7, bytes(tricky), known).json.toString()) as {
        metadata: { resourceVersion: string };
      }
    ).metadata.resourceVersion,
    "7",
  );
});

for (const [from, to] of [
  [9, 10],
  [999, 1000],
  [10, 9],
  [123456789, 1],
] as const) {
  test(`revision ${from} can be shown as ${to}, and again as ${from}`, () => {
    const held = hold("k", from, bytes(plain), known);
    const other = heldAt(held, to);
    assert.equal(
      (JSON.parse(other.json.toString()) as { metadata: { resourceVersion: string } }).metadata
        .resourceVersion,
      String(to),
    );
    assert.equal(other.revision, to);
    assert.deepEqual(heldAt(other, from).line, held.line);
  });
}

for (const uid of ["a3c1f7de-3a30-4f2f-9a7a-0d3a5f5e8b11", "x", ""]) {
  test(`the uid ${JSON.stringify(uid)} is found again, whatever the revision`, () => {
    const text = `{"kind":"Thing","apiVersion":"v1","metadata":{"name":"\\"uid\\":\\"other\\"","uid":"${uid}","ownerReferences":[{"uid":"other"}]}}`;
    for (const revision of [1, 10, 123456789])
      assert.equal(uidOf(hold("k", revision, bytes(text), known)), uid);
  });
}

test("what is held is known again by what was encoded, whatever its revision", () => {
  for (const revision of [1, 10, 123456789]) {
    const held = hold("k", revision, bytes(plain), known);
    assert.ok(saysTheSame(held, bytes(plain)));
    for (const other of [
      plain.replace("Thing", "Thong"),
      plain.replace('"spec":{}', '"spec":[]'),
      plain.replace("u-1", "u-2"),
      `${plain} `,
      plain.slice(0, -1),
      held.json.toString(),
    ])
      assert.equal(saysTheSame(held, bytes(other)), false, other);
    assert.equal(withoutRevision(held).line.toString(), `${plain}\n`);
  }
});

test("bytes that are no object are refused by key", () =>
  assert.throws(() => hold("/registry/x", 1, bytes("{}"), known), /\/registry\/x/));
