import assert from "node:assert/strict";
import { test } from "node:test";
import { goPlain } from "#base";
import { invalidPatch } from "./patch-error.ts";

test("the patch is the invalid value, printed as in Go", () => {
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
