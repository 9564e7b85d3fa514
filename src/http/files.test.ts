import assert from "node:assert/strict";
import { test } from "node:test";
import { rangeOf } from "./files.ts";

const ranges: [asked: string | undefined, expected: ReturnType<typeof rangeOf>][] = [
  [undefined, undefined],
  ["bytes=0-9", { from: 0, length: 10 }],
  ["bytes=90-", { from: 90, length: 10 }],
  ["bytes=-5", { from: 95, length: 5 }],
  ["bytes=-500", { from: 0, length: 100 }],
  ["bytes=50-500", { from: 50, length: 50 }],
  ["bytes=100-", "none"],
  ["bytes=9-2", "none"],
  ["bytes=-0", "none"],
  ["bytes=-", undefined],
  ["bytes=0-1,5-6", undefined],
  ["lines=0-1", undefined],
];
for (const [asked, expected] of ranges) test(`range ${asked}`, () => assert.deepEqual(rangeOf(asked, 100), expected));
