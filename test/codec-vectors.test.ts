// Every test vector of the reference whose kind is declared: JSON, YAML and protobuf must agree, and each
// must round-trip unchanged, protobuf byte for byte. The vectors are not part of the repository; small
// vectors of our own are next to the codecs.

import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { WatchEvent } from "#api";
import { groupName } from "#dialect";
import {
  type Message,
  decodeEnvelope,
  decodeJson,
  decodeYaml,
  encodeEnvelope,
  encodeJson,
  encodeYaml,
  parseYaml,
  protobufCodec,
} from "#schema";
import { declaredMessages, original as dialect } from "./kit/declarations.ts";

const folder = new URL("../../shared/reference/codec/", import.meta.url);
const declared = new Map<string, Message>();
for (const message of declaredMessages) {
  if (message.kind)
    declared.set(
      `${groupName(dialect, message.kind) || "core"}.${message.kind.version}.${message.kind.kind}`,
      message,
    );
  // sent without an envelope
  else if (message === WatchEvent) declared.set("core.v1.WatchEvent", message);
}

test("objects come through every encoding unchanged", async (t) => {
  if (!existsSync(folder)) return t.skip("the reference vectors are not installed next to the repository");
  const names = [...new Set(readdirSync(folder).map((file) => file.replace(/\.(json|yaml|pb)$/, "")))].sort();
  const missing = names.filter((name) => !declared.has(name));
  t.diagnostic(
    `${names.length - missing.length} of ${names.length} kinds with vectors are declared; not yet: ${missing.join(", ") || "none"}`,
  );
  for (const name of names) {
    const message = declared.get(name);
    if (message) await t.test(name, () => roundTrips(message, name));
  }
});

function roundTrips(message: Message, name: string): void {
  const file = (extension: string): Buffer => readFileSync(new URL(`${name}.${extension}`, folder));
  const [json, yaml, binary] = [file("json"), file("yaml").toString(), file("pb")];
  const compact = JSON.stringify(JSON.parse(json.toString()));

  const fromJson = decodeJson(message, json);
  assert.deepEqual(fromJson.strict, []);
  assert.equal(encodeJson(message, fromJson.value), compact, "JSON → object → JSON");

  const envelope = decodeEnvelope(binary, dialect.wire.protobufMagic);
  const codec = protobufCodec(message);
  const fromBinary = codec.decode(envelope.raw, envelope.kind ? envelope : undefined);
  assert.deepEqual(fromBinary, fromJson.value, "protobuf → object = JSON → object");
  assert.equal(encodeJson(message, fromBinary), compact, "protobuf → object → JSON");
  assert.deepEqual(
    Buffer.from(encodeEnvelope(envelope, codec.encode(fromJson.value), dialect.wire.protobufMagic)),
    binary,
    "JSON → object → protobuf",
  );

  const fromYaml = decodeYaml(message, yaml);
  assert.deepEqual(fromYaml.strict, []);
  assert.deepEqual(fromYaml.value, fromJson.value, "YAML → object = JSON → object");
  assert.equal(encodeYaml(message, fromJson.value), yaml, "object → YAML");
  assert.deepEqual(parseYaml(yaml).value, JSON.parse(compact));
}
