// Log records in the OpenTelemetry protocol.
import assert from "node:assert/strict";
import { test } from "node:test";
import { encodeLogs } from "./otlp-logs.ts";

test("a record is encoded as the protocol requires", () => {
  const bytes = encodeLogs({}, "s", [
    { timeMillis: 1, observedMillis: 2, severity: 13, severityText: "W", body: "b", attributes: { k: "v" } },
  ]);
  const record = [
    "0940420f0000000000", // 1: time in nanoseconds
    "100d", // 2: severity
    "1a0157", // 3: its text
    "2a030a0162", // 5: the body
    "32080a016b12030a0176", // 6: an attribute
    "5980841e0000000000", // 11: when it was observed
  ].join("");
  const scope = `0a030a01731228${record}`;
  const hex = Buffer.from(bytes).toString("hex");
  assert.ok(hex.endsWith(record), hex);
  assert.ok(hex.includes(scope.slice(0, 10)), hex);
});
