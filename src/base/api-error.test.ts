import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldErrorText, invalid, invalidValue, required } from "./api-error.ts";

const cases: [name: string, value: unknown, shown: string][] = [
  ["a text is quoted", "a", '"a"'],
  ["a number is not", 5, "5"],
  ["an object is JSON", { a: [1] }, '{"a":[1]}'],
  ['a missing value is "null"', null, '"null"'],
  ["a list of strings has a type", ["a", "b"], '[]string{"a", "b"}'],
  ["an integer beyond 2^53 stays whole", 9007199254740993n, "9007199254740993"],
  [
    "a large integer inside an object is formatted, too",
    { generation: 9007199254740993n },
    '{"generation":9007199254740992}',
  ],
];
for (const [name, value, shown] of cases)
  test(`in an error ${name}`, () =>
    assert.equal(fieldErrorText(invalidValue("f", value, "why")), `f: Invalid value: ${shown}: why`));

test("a missing value is not shown", () =>
  assert.equal(fieldErrorText(required("f", "why")), "f: Required value: why"));

test("repeated errors share one message but keep their own causes", () => {
  const error = invalid({ group: "", kind: "Thing" }, "a", [required("x"), required("x")]);
  assert.equal(error.message, 'Thing "a" is invalid: x: Required value');
  assert.equal(error.details!.causes!.length, 2);
});

test("errors beyond a mebibyte of text are counted but not reported", () => {
  const whole = Array.from({ length: 1000 }, (_, i) => `item-${i}`.padEnd(20, "x"));
  const error = invalid(
    { group: "", kind: "Thing" },
    "a",
    whole.map((_, i) => invalidValue(`list[${i}]`, whole, "only one")),
  );
  const listed = error.details!.causes!.length;
  assert.ok(error.message.length < 2 * 1024 * 1024 && listed > 0);
  assert.ok(error.message.endsWith(`: only one, and ${1000 - listed} more]`));
});
