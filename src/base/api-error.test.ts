import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldErrorText, invalidValue, required } from "./api-error.ts";

const cases: [name: string, value: unknown, shown: string][] = [
  ["a text is quoted", "a", '"a"'],
  ["a number is not", 5, "5"],
  ["an object is JSON", { a: [1] }, '{"a":[1]}'],
  ["nothing is null", null, "null"],
  ["an integer beyond 2^53 stays whole", 9007199254740993n, "9007199254740993"],
  ["one inside an object does not break the sentence", { generation: 9007199254740993n }, '{"generation":9007199254740992}'],
];
for (const [name, value, shown] of cases) test(`in an error ${name}`, () => assert.equal(fieldErrorText(invalidValue("f", value, "why")), `f: Invalid value: ${shown}: why`));

test("a missing value is not shown", () => assert.equal(fieldErrorText(required("f", "why")), "f: Required value: why"));
