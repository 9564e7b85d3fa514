import assert from "node:assert/strict";
import { test } from "node:test";
import type { RemoteSpan, Span } from "./span.ts";
import { isSampled, tracer } from "./tracer.ts";

const sender: RemoteSpan = { traceId: "a".repeat(32), spanId: "b".repeat(16), sampled: true };
const begin = (rate: number, from: RemoteSpan | undefined, publicEndpoint: boolean): Span | undefined =>
  tracer({ samplingRatePerMillion: rate, ended: () => undefined }).serverSpan(
    "request",
    () => ({}),
    from,
    publicEndpoint,
  );

test("a public endpoint starts a new trace and links to the sender's", () => {
  const span = begin(1_000_000, sender, true)!;
  assert.notEqual(span.trace!.traceId, sender.traceId);
  assert.equal(span.link, sender);
  assert.equal(span.parentId, "");
});

test("a public endpoint samples at its own rate, regardless of the sender", () => {
  assert.ok(begin(1_000_000, { ...sender, sampled: false }, true));
  assert.equal(begin(0, sender, true), undefined);
});

test("another endpoint continues the sender's trace and sampling decision", () => {
  const span = begin(0, sender, false)!;
  assert.equal(span.trace!.traceId, sender.traceId);
  assert.equal(span.parentId, sender.spanId);
  assert.equal(begin(1_000_000, { ...sender, sampled: false }, false), undefined);
});

const rates: [traceIdEnd: string, rate: number, sampled: boolean][] = [
  ["0000000000000000", 1, true],
  ["0000000000000000", 0, false],
  ["7fffffffffffffff", 500_000, true],
  ["8000000000000000", 500_000, false],
  ["ffffffffffffffff", 999_999, false],
  ["ffffffffffffffff", 1_000_000, true],
];
for (const [end, rate, sampled] of rates)
  test(`a trace that ends in ${end} is ${sampled ? "" : "not "}sampled at ${rate} per million`, () =>
    assert.equal(isSampled("0".repeat(16) + end, rate), sampled));
