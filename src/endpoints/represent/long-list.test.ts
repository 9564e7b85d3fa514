import assert from "node:assert/strict";
import { test } from "node:test";
import type { CachedObject } from "#watchcache";
import { splicedLongList, splicedPieces } from "./long-list.ts";

const itemOf = (at: number): CachedObject =>
  ({ line: Buffer.from(`${"x".repeat(99_000)}${at}\n`), typeHeaderBytes: 0 }) as unknown as CachedObject;
const splice = (items: readonly CachedObject[]): Uint8Array =>
  Buffer.from(items.map(({ line }) => line.toString().trimEnd().slice(-1)).join(","));

const cases: [name: string, count: number, pieces: string[]][] = [
  ["an empty list has no pieces", 0, []],
  ["a small list is one piece", 2, ["0,1"]],
  ["a large list is divided after 256 KB, with commas in between", 8, ["0,1,2", ",", "3,4,5", ",", "6,7"]],
];
for (const [name, count, pieces] of cases)
  test(name, async () => {
    const items = Array.from({ length: count }, (_, at) => itemOf(at));
    const texts = (parts: Iterable<Uint8Array>): string[] =>
      Array.from(parts, (part) => Buffer.from(part).toString());
    assert.deepEqual(texts(splicedPieces(items, splice)), pieces);
    assert.deepEqual(texts(await splicedLongList(items, splice)), pieces);
  });
