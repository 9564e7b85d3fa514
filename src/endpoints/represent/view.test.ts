import assert from "node:assert/strict";
import { test } from "node:test";
import { ComponentStatus } from "#api";
import { dialects } from "#dialect";
import { decodeEnvelope } from "#schema";
import type { Choice } from "./negotiate.ts";
import { viewBody } from "./view.ts";

const status = { kind: "ComponentStatus", apiVersion: "v1", metadata: { name: "store" } };
const body = (media: Choice["media"], pretty = false): Uint8Array =>
  viewBody(status, ComponentStatus, { media, pretty, form: "object", formVersion: "v1" }, dialects.orch);

const texts: [rule: string, media: Choice["media"], pretty: boolean, text: string][] = [
  [
    "a view in JSON is one line",
    "json",
    false,
    '{"kind":"ComponentStatus","apiVersion":"v1","metadata":{"name":"store","creationTimestamp":null}}\n',
  ],
  [
    "a pretty view is JSON in many lines",
    "json",
    true,
    '{\n  "kind": "ComponentStatus",\n  "apiVersion": "v1",\n  "metadata": {\n    "name": "store",\n    "creationTimestamp": null\n  }\n}',
  ],
  [
    "a view in YAML is no JSON, pretty or not",
    "yaml",
    true,
    "apiVersion: v1\nkind: ComponentStatus\nmetadata:\n  creationTimestamp: null\n  name: store\n",
  ],
];
for (const [rule, media, pretty, text] of texts)
  test(rule, () => assert.equal(Buffer.from(body(media, pretty)).toString(), text));

test("a view in the binary form names its kind", () => {
  const { apiVersion, kind } = decodeEnvelope(body("protobuf"), dialects.orch.wire.protobufMagic);
  assert.deepEqual({ apiVersion, kind }, { apiVersion: "v1", kind: "ComponentStatus" });
});
