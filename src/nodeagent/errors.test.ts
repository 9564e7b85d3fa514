import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { fsErrorText } from "./errors.ts";

const failures: [name: string, act: () => void, words: string][] = [
  ["a missing file", () => readFileSync("/no/such"), "open /no/such: no such file or directory"],
  ["an existing folder", () => mkdirSync("/proc"), "mkdir /proc: file exists"],
  ["a folder used as a file", () => writeFileSync("/proc", ""), "open /proc: is a directory"],
  [
    "anything else",
    () => {
      throw new Error("as it is");
    },
    "as it is",
  ],
];
for (const [name, act, text] of failures) {
  test(`${name}: the error text has operation, path and reason in this order`, () => {
    try {
      act();
      assert.fail("it worked");
    } catch (error) {
      assert.equal(fsErrorText(error as Error), text);
    }
  });
}
