import assert from "node:assert/strict";
import { test } from "node:test";
import { Span } from "./span.ts";
import { parseTraceparent, traceparentOf } from "./trace-context.ts";

const trace = "0af7651916cd43dd8448eb211c80319c";
const span = "00f067aa0ba902b7";

const cases: [name: string, header: string | undefined, sampled: boolean | undefined][] = [
  ["a sampled parent", `00-${trace}-${span}-01`, true],
  ["a parent that is not sampled", `00-${trace}-${span}-00`, false],
  ["other flags in addition to sampled", `00-${trace}-${span}-03`, true],
  ["a later version with more fields", `01-${trace}-${span}-01-more`, true],
  ["no header", undefined, undefined],
  ["more fields than version 00 has", `00-${trace}-${span}-01-more`, undefined],
  ["the forbidden version", `ff-${trace}-${span}-01`, undefined],
  ["a trace id of zeros", `00-${"0".repeat(32)}-${span}-01`, undefined],
  ["a span id of zeros", `00-${trace}-${"0".repeat(16)}-01`, undefined],
  ["upper case", `00-${trace.toUpperCase()}-${span}-01`, undefined],
  ["nonsense", "nonsense", undefined],
];
for (const [name, header, sampled] of cases)
  test(`traceparent: ${name}`, () =>
    assert.deepEqual(
      parseTraceparent(header),
      sampled === undefined ? undefined : { traceId: trace, spanId: span, sampled },
    ));

test("only a sampled span is propagated in the header", () => {
  const sampled = new Span("a", {}, { trace: { traceId: trace, ended: () => undefined } });
  assert.deepEqual(parseTraceparent(traceparentOf(sampled)), {
    traceId: trace,
    spanId: sampled.id,
    sampled: true,
  });
  assert.equal(traceparentOf(new Span("a")), undefined);
});
