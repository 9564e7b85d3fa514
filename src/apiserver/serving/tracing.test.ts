import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { createLog } from "#base";
import { dialects } from "#dialect";
import { Span } from "#tracing";
import { readTracingConfiguration, slowTraceLog } from "./tracing.ts";

const folder = mkdtempSync(join(tmpdir(), "orch-tracing-"));
after(() => rmSync(folder, { recursive: true }));
const file = join(folder, "tracing.yaml");
const head = `apiVersion: apiserver.config.${dialects.orch.wire.groupSuffix}/v1beta1\nkind: TracingConfiguration\n`;

const never = { endpoint: "http://localhost:4317", samplingRatePerMillion: 0 };
const cases: [name: string, text: string, expected: object | RegExp][] = [
  ["an empty file samples nothing", "", never],
  ["a file without fields samples nothing", head, never],
  [
    "the older version is accepted",
    `${head.replace("v1beta1", "v1alpha1")}endpoint: otel:4317\nsamplingRatePerMillion: 100\n`,
    { endpoint: "http://otel:4317", samplingRatePerMillion: 100 },
  ],
  [
    "another kind is refused",
    head.replace("Tracing", "Other"),
    /no kind "OtherConfiguration" is registered for version /,
  ],
  ["another version is refused", head.replace("v1beta1", "v9"), /v9/],
  ["invalid YAML is refused", "a: [b", /tracing\.yaml/],
  [
    "a rate that is not a number is refused",
    `${head}samplingRatePerMillion: many`,
    /samplingRatePerMillion: must be/,
  ],
  ["a rate above a million is refused", `${head}samplingRatePerMillion: 1000001`, /one million/],
  ["an endpoint URL is refused", `${head}endpoint: http://a:1`, /endpoint: unsupported scheme: http/],
];
for (const [name, text, expected] of cases)
  test(`tracing configuration: ${name}`, () => {
    writeFileSync(file, text);
    const read = (): unknown => readTracingConfiguration(file, dialects.orch);
    if (expected instanceof RegExp) assert.throws(read, expected);
    else assert.deepEqual(read(), expected);
  });

test("an unknown field is reported and ignored", () => {
  writeFileSync(file, `${head}colour: red`);
  const unknown: string[] = [];
  assert.deepEqual(
    readTracingConfiguration(file, dialects.orch, (field) => unknown.push(field)),
    never,
  );
  assert.deepEqual(unknown, ["colour"]);
});

test("a slow operation is logged in one line", () => {
  const lines: string[] = [];
  const log = createLog({ sink: { write: (line) => void lines.push(String(line)), flush: () => undefined } });
  const span = new Span("List", { url: "/api/v1/pods" }, { began: 0, slowMilliseconds: 500 });
  span.end(501);
  slowTraceLog(log)(span);
  assert.equal(lines.length, 1);
  assert.match(lines[0]!, /Trace\[\d+\]: List url:\/api\/v1\/pods .*\(total time: 501ms\): \[501ms\] END/);
});
