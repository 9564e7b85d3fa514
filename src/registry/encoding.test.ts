import assert from "node:assert/strict";
import { test } from "node:test";
import { ConfigMap, Event, inDialect } from "#api";
import { type DialectName, dialects } from "#dialect";
import { decodeJson, encodeHeld, encodeStoredProtobuf, storedForm } from "./encoding.ts";
import type { ApiObject } from "./strategy.ts";

const object = (): ApiObject & Record<string, unknown> => ({
  kind: "ConfigMap",
  apiVersion: "v1",
  metadata: { name: "a", namespace: "n", uid: "u", creationTimestamp: "2030-01-01T00:00:00Z" },
  data: { b: "2", a: "1" },
  immutable: true,
});

for (const name of ["orch", "kubernetes"] satisfies DialectName[]) {
  const dialect = dialects[name];
  test(`stored protobuf starts with the magic number of the ${name} dialect and round-trips`, () => {
    const bytes = encodeStoredProtobuf(ConfigMap, object(), dialect);
    assert.deepEqual(Buffer.from(bytes.subarray(0, 4)), Buffer.from(dialect.wire.protobufMagic));
    const { apiVersion, decode } = storedForm(bytes, dialect);
    assert.deepEqual([apiVersion, decode(ConfigMap)], ["v1", object()]);
  });

  test(`the envelope contains the type in the ${name} dialect`, () => {
    const schema = inDialect(dialect, Event);
    const bytes = encodeStoredProtobuf(schema, { ...object(), kind: "Event" }, dialect);
    assert.equal(
      storedForm(bytes, dialect).apiVersion,
      name === "orch" ? "events.orch.io/v1" : "events.k8s.io/v1",
    );
  });
}

test("bytes without a magic number are refused", () => {
  assert.throws(() => storedForm(Buffer.from("nonsense"), dialects.orch));
});

test("JSON round-trips and has a canonical field order", () => {
  const text = encodeHeld(ConfigMap, object());
  const { data, ...rest } = object() as unknown as ApiObject & { data: Record<string, string> };
  const shuffled = Object.fromEntries(
    Object.entries({ ...rest, data: { a: data["a"]!, b: data["b"]! } }).toReversed(),
  ) as unknown as ApiObject;
  assert.equal(encodeHeld(ConfigMap, shuffled), text);
  assert.deepEqual(decodeJson(ConfigMap, text), object());
  assert.deepEqual(storedForm(Buffer.from(text), dialects.orch).decode(ConfigMap), object());
});
