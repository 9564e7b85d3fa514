import assert from "node:assert/strict";
import { test } from "node:test";
import { goBytes, goPlain, goSyntax, goType } from "./go-value.ts";

const cases: [name: string, value: unknown, plain: string, syntax: string, type: string][] = [
  ["a text", 'a"b\n', 'a"b\n', String.raw`"a\"b\n"`, "string"],
  ["a control character", "\u0001", "\u0001", String.raw`"\x01"`, "string"],
  ["nothing", null, "<nil>", "interface {}(nil)", "<nil>"],
  ["a boolean", true, "true", "true", "bool"],
  ["an integer", 5, "5", "5", "int64"],
  ["a large integer", 9223372036854775807n, "9223372036854775807", "9223372036854775807", "int64"],
  ["a fraction", -0.5, "-0.5", "-0.5", "float64"],
  ["a number beyond the integer range", 1e20, "1e+20", "1e+20", "float64"],
  ["a list", ["a", 1], "[a 1]", '[]interface {}{"a", 1}', "[]interface {}"],
  ["an empty map", {}, "map[]", "map[string]interface {}{}", "map[string]interface {}"],
  [
    "a map, by its keys",
    { b: null, a: { x: [] } },
    "map[a:map[x:[]] b:<nil>]",
    'map[string]interface {}{"a":map[string]interface {}{"x":[]interface {}{}}, "b":interface {}(nil)}',
    "map[string]interface {}",
  ],
];
for (const [name, value, plain, syntax, type] of cases)
  test(`${name} as Go prints it`, () =>
    assert.deepEqual([goPlain(value), goSyntax(value), goType(value)], [plain, syntax, type]));

test("bytes as Go prints them", () => {
  assert.equal(goBytes(Buffer.from("a\n")), "[]byte{0x61, 0xa}");
  assert.equal(goBytes(undefined), "[]byte(nil)");
});
