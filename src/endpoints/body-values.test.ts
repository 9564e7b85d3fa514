import assert from "node:assert/strict";
import { test } from "node:test";
import { limitValues, maxValues } from "./body-values.ts";

const list = (item: string, count: number): string =>
  `[${Array.from({ length: count }, () => item).join(",")}]`;

const cases: [name: string, body: string, refused: boolean][] = [
  ["a body with few values passes", `{"a":${list("1", 1000)}}`, false],
  ["as many as there may be pass", list("1", maxValues - 1), false],
  ["one more does not", list("1", maxValues + 1), true],
  ["nor does it behind blanks", ` \n\t\r${list("1", maxValues + 1)}`, true],
  ["empty objects count", list("{}", maxValues / 2 + 1), true],
  ["what stands in a text does not count", JSON.stringify({ a: ',[{"\\'.repeat(maxValues) }), false],
  ["a text that ends in a backslash ends", `["\\\\",${list("1", maxValues)}]`, true],
  ["what is not nested too deep is counted", "[".repeat(9_999) + list("1", maxValues), true],
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

test("what nests too deep is cut where the reader stops", () =>
  assert.equal(limitValues(Buffer.from("[".repeat(2 * maxValues))).length, 10_001));
