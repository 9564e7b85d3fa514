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

test("a missing file is reported with Go's text", () =>
  assert.equal(textOf("/nowhere/at/all"), "open /nowhere/at/all: no such file or directory"));
test("a directory is reported with Go's text", () => assert.equal(textOf("/"), "read /: is a directory"));
test("an error without an errno keeps its message", () =>
  assert.equal(fileErrorText(new Error("odd"), "/x"), "odd"));
