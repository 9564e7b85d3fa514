import assert from "node:assert/strict";
import { test } from "node:test";
import type { TimelineEntry } from "../api/wire.ts";
import { onceEach } from "./series.ts";

const mark = (id: string, uid: string, edge?: "first" | "last") =>
  ({ id, event: { uid }, ...(edge && { series: { edge } }) }) as TimelineEntry;
const ids = (...entries: TimelineEntry[]) => onceEach(entries).map(({ id }) => id);

test("a series is listed once, at its last occurrence", () => {
  assert.deepEqual(ids(mark("a/last", "a", "last"), mark("b", "b"), mark("a", "a", "first")), [
    "a/last",
    "b",
  ]);
});

test("the first entry of a series is kept if its last one is on another page", () => {
  assert.deepEqual(ids(mark("a", "a", "first")), ["a"]);
});
