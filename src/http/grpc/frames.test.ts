import { constants } from "node:http2";
import { test } from "node:test";
import assert from "node:assert/strict";
import { FrameReader, framed } from "./frames.ts";
import { type GrpcError, percentDecoded, statusOf, statusOfPlainHttp, statusOfReset } from "./status.ts";
import { timeoutText } from "./channel.ts";

const text = (messages: Uint8Array[]): string[] => messages.map((message) => Buffer.from(message).toString());

test("messages are reassembled however the bytes are split", () => {
  const wire = Buffer.concat([
    framed(Buffer.from("one")),
    framed(Buffer.from("")),
    framed(Buffer.from("a longer third one")),
  ]);
  for (let size = 1; size <= wire.length; size++) {
    const reader = new FrameReader(100);
    const out: string[] = [];
    for (let at = 0; at < wire.length; at += size)
      out.push(...text(reader.push(wire.subarray(at, at + size))));
    assert.deepEqual(out, ["one", "", "a longer third one"], `cut every ${size} bytes`);
    assert.equal(reader.empty, true);
  }
});

test("a message above the limit is rejected by its header", () => {
  const header = framed(Buffer.alloc(11)).subarray(0, 5);
  assert.throws(
    () => new FrameReader(10).push(header),
    (error: GrpcError) => error.code === "RESOURCE_EXHAUSTED" && error.detail.includes("(11 vs. 10)"),
  );
});

test("a compressed message is rejected", () => {
  const frame = framed(Buffer.from("x"));
  frame[0] = 1;
  assert.throws(() => new FrameReader(10).push(frame), { code: "INTERNAL" });
});

const decoded: [encoded: string, plain: string][] = [
  ["plain text", "plain text"],
  ["100%25 sure", "100% sure"],
  ["gr%C3%BC%C3%9Fe", "grüße"],
  ["broken %zz and %4", "broken %zz and %4"],
  ["mixed ü %C3%BC", "mixed ü ü"],
];
for (const [encoded, plain] of decoded)
  test(`the message ${JSON.stringify(encoded)} reads ${JSON.stringify(plain)}`, () =>
    assert.equal(percentDecoded(encoded), plain));

test("an unknown status number is UNKNOWN, and a missing status is undefined", () => {
  assert.deepEqual(statusOf({ "grpc-status": "99" }), { code: "UNKNOWN", detail: "" });
  assert.deepEqual(statusOf({ "grpc-status": "14", "grpc-message": "down" }), {
    code: "UNAVAILABLE",
    detail: "down",
  });
  assert.equal(statusOf({}), undefined);
});

const resets: [http2: string, code: string, unprocessed: boolean][] = [
  ["NGHTTP2_REFUSED_STREAM", "UNAVAILABLE", true],
  ["NGHTTP2_CANCEL", "CANCELLED", false],
  ["NGHTTP2_ENHANCE_YOUR_CALM", "RESOURCE_EXHAUSTED", false],
  ["NGHTTP2_INADEQUATE_SECURITY", "PERMISSION_DENIED", false],
  ["NGHTTP2_STREAM_CLOSED", "INTERNAL", false],
];
for (const [http2, code, unprocessed] of resets) {
  test(`a stream reset with ${http2} fails as ${code}${unprocessed ? " and was not processed" : ""}`, () => {
    const status = statusOfReset(constants[http2 as keyof typeof constants] as number);
    assert.deepEqual([status.code, status.unprocessed ?? false], [code, unprocessed]);
  });
}

const plainAnswers: [status: number, type: string | undefined, code: string | undefined][] = [
  [200, "application/grpc+proto", undefined],
  [200, "text/html", "UNKNOWN"],
  [401, undefined, "UNAUTHENTICATED"],
  [404, undefined, "UNIMPLEMENTED"],
  [503, undefined, "UNAVAILABLE"],
  [418, undefined, "UNKNOWN"],
];
for (const [status, type, code] of plainAnswers) {
  test(`plain HTTP ${status} of type ${type} means ${code ?? "success"}`, () =>
    assert.equal(
      statusOfPlainHttp({ ":status": status, ...(type && { "content-type": type }) } as unknown as Parameters<
        typeof statusOfPlainHttp
      >[0])?.code,
      code,
    ));
}

const timeouts: [milliseconds: number, text: string][] = [
  [0, "1m"],
  [1500.2, "1501m"],
  [99_999_999, "99999999m"],
  [100_000_000, "100000S"],
];
for (const [milliseconds, expected] of timeouts)
  test(`a timeout of ${milliseconds} ms is sent as ${expected}`, () =>
    assert.equal(timeoutText(milliseconds), expected));
