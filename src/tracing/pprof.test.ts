import assert from "node:assert/strict";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { encodePprof } from "./pprof.ts";

const frame = (functionName: string, lineNumber = 0) => ({ functionName, url: "a.ts", lineNumber });

/** Returns the fields of a message by number, in order. */
function fieldsOf(bytes: Uint8Array): Map<number, (bigint | Buffer)[]> {
  const found = new Map<number, (bigint | Buffer)[]>();
  const all = Buffer.from(bytes);
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = all[at++]!;
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  while (at < all.length) {
    const tag = Number(varint());
    let value: bigint | Buffer;
    if ((tag & 7) === 0) value = varint();
    else {
      const length = Number(varint());
      value = all.subarray(at, at + length);
      at += length;
    }
    found.getOrInsertComputed(tag >> 3, () => []).push(value);
  }
  return found;
}
const texts = (fields: ReturnType<typeof fieldsOf>): string[] => (fields.get(6) ?? []).map(String);

test("stacks are encoded as samples, locations, functions and strings", () => {
  const bytes = gunzipSync(
    encodePprof({
      types: [{ type: "cpu", unit: "nanoseconds" }],
      period: { type: "cpu", unit: "nanoseconds", every: 1000 },
      samples: [
        { stack: [frame("inner", 6), frame("outer", 1)], values: [300] },
        { stack: [frame("outer", 1)], values: [7] },
      ],
      at: 1_700_000_000_000,
      durationMilliseconds: 2000,
    }),
  );
  const profile = fieldsOf(bytes);
  assert.deepEqual(texts(profile), ["", "inner", "a.ts", "outer", "cpu", "nanoseconds"]);
  assert.equal(profile.get(2)?.length, 2);
  const [first, second] = profile.get(2)!.map((sample) => fieldsOf(sample as Buffer));
  assert.deepEqual([...(first!.get(1)![0] as Buffer)], [1, 2]);
  assert.deepEqual([...(second!.get(1)![0] as Buffer)], [2]);
  assert.deepEqual([...(second!.get(2)![0] as Buffer)], [7]);
  const [location] = profile.get(4)!.map((each) => fieldsOf(each as Buffer));
  const line = fieldsOf(location!.get(4)![0] as Buffer);
  assert.deepEqual([line.get(1), line.get(2)], [[1n], [7n]]);
  const functions = profile.get(5)!.map((each) => fieldsOf(each as Buffer));
  assert.deepEqual(
    functions.map((each) => texts(profile)[Number(each.get(2)![0])]),
    ["inner", "outer"],
  );
  assert.deepEqual(profile.get(9), [1_700_000_000_000_000_000n]);
  assert.deepEqual(profile.get(10), [2_000_000_000n]);
});
