import assert from "node:assert/strict";
import { test } from "node:test";
import { atRevision, withRevision, sameContent, uidOf, withoutRevision } from "./cached-object.ts";

const known = { namespace: "n", name: "a", labels: {}, fields: {} };
const bytes = (text: string): Uint8Array => Buffer.from(text);
const plain = '{"kind":"Thing","apiVersion":"v1","metadata":{"name":"a","uid":"u-1","labels":{}},"spec":{}}';

test("the revision is inserted after the uid, and the type header can be removed", () => {
  const cached = withRevision("k", 42, bytes(plain), known);
  assert.equal(
    cached.json.toString(),
    '{"kind":"Thing","apiVersion":"v1","metadata":{"name":"a","uid":"u-1","resourceVersion":"42","labels":{}},"spec":{}}',
  );
  assert.equal(cached.json.subarray(cached.revisionStart, cached.revisionEnd).toString(), "42");
  assert.equal(
    `{${cached.json.subarray(cached.typeHeaderBytes).toString()}`,
    '{"metadata":{"name":"a","uid":"u-1","resourceVersion":"42","labels":{}},"spec":{}}',
  );
  assert.equal(cached.line.at(-1), 10);
});

test("a uid field elsewhere is not mistaken for the object's uid", () => {
  const tricky =
    '{"kind":"Thing","apiVersion":"v1","metadata":{"name":"\\"uid\\":\\"x\\"","uid":"mine","ownerReferences":[{"uid":"other"}]}}';
  assert.equal(
    (
      JSON.parse(withRevision("k", 7, bytes(tricky), known).json.toString()) as {
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
  test(`revision ${from} can be replaced by ${to} and back by ${from}`, () => {
    const cached = withRevision("k", from, bytes(plain), known);
    const other = atRevision(cached, to);
    assert.equal(
      (JSON.parse(other.json.toString()) as { metadata: { resourceVersion: string } }).metadata
        .resourceVersion,
      String(to),
    );
    assert.equal(other.revision, to);
    assert.deepEqual(atRevision(other, from).line, cached.line);
  });
}

for (const uid of ["a3c1f7de-3a30-4f2f-9a7a-0d3a5f5e8b11", "x", ""]) {
  test(`the uid ${JSON.stringify(uid)} is found with any revision`, () => {
    const text = `{"kind":"Thing","apiVersion":"v1","metadata":{"name":"\\"uid\\":\\"other\\"","uid":"${uid}","ownerReferences":[{"uid":"other"}]}}`;
    for (const revision of [1, 10, 123456789])
      assert.equal(uidOf(withRevision("k", revision, bytes(text), known)), uid);
  });
}

test("a cached object equals its encoded JSON with any revision", () => {
  for (const revision of [1, 10, 123456789]) {
    const cached = withRevision("k", revision, bytes(plain), known);
    assert.ok(sameContent(cached, bytes(plain)));
    for (const other of [
      plain.replace("Thing", "Thong"),
      plain.replace('"spec":{}', '"spec":[]'),
      plain.replace("u-1", "u-2"),
      `${plain} `,
      plain.slice(0, -1),
      cached.json.toString(),
    ])
      assert.equal(sameContent(cached, bytes(other)), false, other);
    assert.equal(withoutRevision(cached).line.toString(), `${plain}\n`);
    const madeUp = JSON.parse(withoutRevision(cached, 'a"b').line.toString()) as { metadata: object };
    const { metadata } = JSON.parse(plain) as { metadata: object };
    assert.deepEqual(madeUp.metadata, { ...metadata, resourceVersion: 'a"b' });
  }
});

test("malformed bytes are refused with an error that names the key", () =>
  assert.throws(() => withRevision("/registry/x", 1, bytes("{}"), known), /\/registry\/x/));
