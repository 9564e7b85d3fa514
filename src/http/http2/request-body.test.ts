import assert from "node:assert/strict";
import { test } from "node:test";
import { RequestBody } from "./request-body.ts";

const retained = (body: RequestBody): number => {
  const { chunks, open } = body as unknown as { chunks: Uint8Array[]; open: Uint8Array | undefined };
  return [...new Set([...chunks, ...(open ? [open] : [])].map((chunk) => chunk.buffer))].reduce(
    (sum, buffer) => sum + buffer.byteLength,
    0,
  );
};

const cases: [name: string, sizes: number[], of: number][] = [
  ["no chunk", [], 0],
  ["one small chunk", [10], 10],
  ["one chunk of a full frame", [16_384], 16_384],
  ["small chunks", Array.from({ length: 5000 }, () => 1), 2],
  ["small and large chunks in turn", [1, 16_384, 7, 7, 16_384, 3], 65_536],
  ["chunks of all sizes", Array.from({ length: 300 }, (_, at) => at * 17), 65_536],
];
for (const [name, sizes, underlying] of cases) {
  test(`${name}: the bytes are returned in order`, () => {
    const body = new RequestBody();
    const all = Buffer.from(
      Array.from({ length: sizes.reduce((sum, size) => sum + size, 0) }, (_, at) => at % 251),
    );
    let added = 0;
    for (const size of sizes) {
      const chunk = Buffer.allocUnsafeSlow(Math.max(size, underlying)).subarray(0, size);
      added += all.copy(chunk, 0, added);
      body.add(chunk);
    }
    assert.ok(all.equals(body.take()));
  });
}

test("chunks of one byte, each a slice of a large buffer, retain little more than their bytes", () => {
  const body = new RequestBody();
  for (let at = 0; at < 4000; at++) body.add(Buffer.allocUnsafeSlow(16_384).subarray(5, 6));
  assert.ok(retained(body) < 12_000, `${retained(body)} bytes are held`);
});

test("small chunks between large ones retain little more than their bytes", () => {
  const body = new RequestBody();
  for (let at = 0; at < 500; at++) {
    body.add(Buffer.allocUnsafeSlow(16_384).subarray(5, 6));
    body.add(Buffer.allocUnsafeSlow(4096));
  }
  assert.ok(retained(body) < 2 * 500 * 4097 + 65_536, `${retained(body)} bytes are held`);
});

test("a single chunk that is most of its buffer is not copied", () => {
  const body = new RequestBody();
  const chunk = Buffer.allocUnsafeSlow(8192).subarray(9);
  body.add(chunk);
  assert.equal(body.take(), chunk);
});
