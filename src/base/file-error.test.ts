import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileErrorText } from "./file-error.ts";

const textOf = (file: string): string => {
  try {
    readFileSync(file);
  } catch (error) {
    return fileErrorText(error, file);
  }
  return "";
};

test("a file that is not there is told as Go tells it", () =>
  assert.equal(textOf("/nowhere/at/all"), "open /nowhere/at/all: no such file or directory"));
test("a folder is told as Go tells it", () => assert.equal(textOf("/"), "read /: is a directory"));
test("what has no code of the system is told as it is", () =>
  assert.equal(fileErrorText(new Error("odd"), "/x"), "odd"));
