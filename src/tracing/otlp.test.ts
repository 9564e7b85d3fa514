import assert from "node:assert/strict";
import { test } from "node:test";
import { encodeExport } from "./otlp.ts";
import { Span, maxItems } from "./span.ts";

type Field = readonly [number: number, value: Buffer | bigint];

/** Decodes the fields of a message without a schema. */
function fieldsOf(bytes: Buffer): Field[] {
  const found: Field[] = [];
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++]!;
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const type = tag & 7;
    if (type === 0) found.push([tag >> 3, varint()]);
    else {
      const length = type === 1 ? 8 : Number(varint());
      found.push([tag >> 3, bytes.subarray(at, at + length)]);
      at += length;
    }
  }
  return found;
}
const inside = (bytes: Buffer, field: number): Buffer[] =>
  fieldsOf(bytes).flatMap(([number, value]) => (number === field ? [value as Buffer] : []));
const number = (bytes: Buffer, field: number): bigint | undefined =>
  fieldsOf(bytes).find(([found]) => found === field)?.[1] as bigint | undefined;
const attributesOf = (messages: readonly Buffer[]): Record<string, string> =>
  Object.fromEntries(
    messages.map((each) => [
      inside(each, 1)[0]!.toString(),
      fieldsOf(inside(each, 2)[0]!).map(([kind, value]) => `${kind}:${value.toString()}`)[0]!,
    ]),
  );

const traceId = "0af7651916cd43dd8448eb211c80319c";
const trace = { traceId, ended: () => undefined };

test("spans are encoded as the OpenTelemetry protocol requires", () => {
  const link = { traceId: "1".repeat(32), spanId: "2".repeat(16), sampled: true };
  const root = new Span("request", { text: "a", count: 7, ok: true }, { trace, kind: "server", link });
  const child = root.child("inner");
  child.event("step", { len: 3 });
  child.failed = true;
  child.end();
  root.end();
  const request = Buffer.from(encodeExport({ "service.name": "me" }, "scope", [child, root]));
  const [resourceSpans] = inside(request, 1);
  assert.deepEqual(attributesOf(inside(inside(resourceSpans!, 1)[0]!, 1)), { "service.name": "1:me" });
  const [scopeSpans] = inside(resourceSpans!, 2);
  assert.equal(inside(inside(scopeSpans!, 1)[0]!, 1)[0]!.toString(), "scope");
  const [first, second] = inside(scopeSpans!, 2);
  assert.equal(inside(first!, 5)[0]!.toString(), "inner");
  assert.equal(inside(first!, 4)[0]!.toString("hex"), root.id);
  assert.equal(inside(inside(first!, 11)[0]!, 2)[0]!.toString(), "step");
  assert.equal(number(inside(first!, 15)[0]!, 3), 2n);
  assert.equal(inside(second!, 1)[0]!.toString("hex"), traceId);
  assert.equal(inside(second!, 2)[0]!.toString("hex"), root.id);
  assert.deepEqual(inside(second!, 4), []);
  assert.equal(number(second!, 6), 2n);
  assert.deepEqual(attributesOf(inside(second!, 9)), { text: "1:a", count: "3:7", ok: "2:1" });
  assert.equal(inside(inside(second!, 13)[0]!, 1)[0]!.toString("hex"), link.traceId);
  const [start, end] = [7, 8].map((field) => inside(second!, field)[0]!.readBigUInt64LE());
  assert.ok(end! >= start!);
  assert.ok(Math.abs(Number(start! / 1_000_000n) - Date.now()) < 3_600_000);
});

test("a span keeps a limited number of events, and counts dropped ones", () => {
  const span = new Span("busy", {}, { trace });
  for (let at = 0; at < maxItems + 5; at++) span.event(`step ${at}`);
  span.end();
  const [encoded] = inside(inside(inside(Buffer.from(encodeExport({}, "", [span])), 1)[0]!, 2)[0]!, 2);
  assert.equal(inside(encoded!, 11).length, maxItems);
  assert.equal(number(encoded!, 12), 5n);
});
