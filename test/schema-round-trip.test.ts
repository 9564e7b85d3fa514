// Random objects of real kinds round-trip through every encoding unchanged.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ConfigMap, CustomResourceDefinition, Event, Node, Pod, Secret, Service, Status } from "#api";
import {
  type Message,
  canonical,
  decodeJson,
  decodeYaml,
  encodeJson,
  encodeYaml,
  protobufCodec,
} from "#schema";
import fc from "fast-check";
import { arbitraryObject } from "./kit/arbitrary-object.ts";

for (const message of [
  Pod,
  Node,
  Service,
  Secret,
  ConfigMap,
  Event,
  Status,
  CustomResourceDefinition,
] as Message[]) {
  test(`a ${message.name} survives JSON, YAML and protobuf`, () => {
    fc.assert(
      fc.property(arbitraryObject(message), (object) => {
        const text = encodeJson(message, object);
        const fromJson = decodeJson(message, text);
        assert.deepEqual(fromJson.strict, []);
        assert.equal(encodeJson(message, fromJson.value), text);
        assert.deepEqual(fromJson.value, object);
        assert.equal(canonical(message, object), object);
        assert.deepEqual(decodeYaml(message, encodeYaml(message, object)).value, object);

        // Protobuf has one form for an empty and an absent list, and for zero values behind a raw object.
        const codec = protobufCodec(message);
        const bytes = codec.encode(object);
        const decoded = codec.decode(bytes, object as unknown as { kind: string; apiVersion: string });
        assert.deepEqual(Buffer.from(codec.encode(decoded)), Buffer.from(bytes));
        assert.deepEqual(withoutEmpty(decoded), withoutEmpty(object));
      }),
      { numRuns: 20 },
    );
  });
}

const withoutEmpty = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.length === 0 ? null : value.map(withoutEmpty);
  if (typeof value !== "object" || value === null) return Object.is(value, -0) ? 0 : value;
  const entries = Object.entries(value).map(([key, item]) => [key, withoutEmpty(item)] as const);
  return entries.length === 0
    ? null
    : Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)).filter(([, item]) => item !== null));
};
