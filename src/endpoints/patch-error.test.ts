import assert from "node:assert/strict";
import { test } from "node:test";
import { goPlain } from "#base";
import { converterWords, invalidPatch } from "./patch-error.ts";

const words: [decoder: string, converter: string][] = [
  ["json: cannot unmarshal string into Go struct field ObjectMeta.metadata.labels of type map[string]string", "cannot restore map from string"],
  ["json: cannot unmarshal object into Go struct field PodSpec.spec.containers of type []v1.Container", "cannot restore slice from map"],
  ["json: cannot unmarshal array into Go struct field Pod.spec of type v1.PodSpec", "cannot restore struct from: slice"],
  ["json: cannot unmarshal number 1.5 into Go struct field X.spec.replicas of type int32", "cannot convert float64 to int32"],
  ["json: cannot unmarshal string into Go struct field X.spec.replicas of type int32", "cannot convert string to int32"],
  ["quantities must match the regular expression", "quantities must match the regular expression"],
]; // prettier-ignore
for (const [decoder, converter] of words)
  test(`"${converter}" is how a converter tells it`, () => assert.equal(converterWords(decoder), converter));

test("a patch is shown as Go prints it, and is the invalid value", () => {
  const shown = goPlain({ metadata: { labels: "invalid" }, a: [1, null, { b: true }] });
  assert.equal(shown, "map[a:[1 <nil> map[b:true]] metadata:map[labels:invalid]]");
  const { code, message, details } = invalidPatch(shown, "cannot restore map from string");
  assert.equal(code, 422);
  assert.equal(
    message,
    ` "" is invalid: patch: Invalid value: ${JSON.stringify(shown)}: cannot restore map from string`,
  );
  assert.equal(details?.causes?.[0]?.field, "patch");
});
