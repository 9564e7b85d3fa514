import assert from "node:assert/strict";
import { test } from "node:test";
import { limitValues, maxValues } from "./body-values.ts";

const list = (item: string, count: number): string =>
  `[${Array.from({ length: count }, () => item).join(",")}]`;

const cases: [name: string, body: string, refused: boolean][] = [
  ["a body with few values passes", `{"a":${list("1", 1000)}}`, false],
  ["the maximum number of values passes", list("1", maxValues - 1), false],
  ["one value more is rejected", list("1", maxValues + 1), true],
  ["leading white space does not affect the limit", ` \n\t\r${list("1", maxValues + 1)}`, true],
  ["empty objects count", list("{}", maxValues / 2 + 1), true],
  ["the content of strings does not count", JSON.stringify({ a: ',[{"\\'.repeat(maxValues) }), false],
  ["a string that ends with an escaped backslash ends", `["\\\\",${list("1", maxValues)}]`, true],
  ["values within the depth limit are counted", "[".repeat(9_999) + list("1", maxValues), true],
  ["another form than JSON is not counted here", `a: ${list("1", maxValues + 1)}`, false],
];
for (const [name, body, refused] of cases) {
  test(name, () => {
    const read = (): Uint8Array => limitValues(Buffer.from(body));
    if (refused)
      assert.throws(read, { code: 413, message: `Request entity too large: limit is ${maxValues} values` });
    else assert.equal(Buffer.from(read()).toString(), body);
  });
}

test("a document nested too deep is truncated where the decoder stops", () =>
  assert.equal(limitValues(Buffer.from("[".repeat(2 * maxValues))).length, 10_001));
