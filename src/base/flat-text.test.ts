import assert from "node:assert/strict";
import { test } from "node:test";
import { flatText } from "./flat-text.ts";

for (const text of [
  "",
  "short",
  "put together ".concat("of two"),
  "größe in Latin-1…",
  "\ud800 alone, unpaired",
])
  test(`a text stays what it was: ${JSON.stringify(text)}`, () => assert.equal(flatText(text), text));
