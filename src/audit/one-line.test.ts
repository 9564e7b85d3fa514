import assert from "node:assert/strict";
import { test } from "node:test";
import { oneLine } from "./one-line.ts";

const cases: [name: string, json: string, line: string][] = [
  ["an indented object", '{\n  "a": 1e400,\r\n\t"b": [ 1, 2 ]\n}\n', '{"a":1e400,"b":[1,2]}'],
  [
    "strings with spaces, quotes and backslashes",
    '{\n"a b": "c \\" d\\\\",\n" ": ""}',
    '{"a b":"c \\" d\\\\"," ":""}',
  ],
  ["duplicate keys", '{"a": 1,\n"a": 2}', '{"a":1,"a":2}'],
  ["a text of one line", '{"a": 1}', '{"a": 1}'],
];
for (const [name, json, line] of cases)
  test(`${name} becomes one line`, () => assert.equal(oneLine(json), line));
