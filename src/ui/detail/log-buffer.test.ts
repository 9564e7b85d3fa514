import assert from "node:assert/strict";
import { test } from "node:test";
import { addLines, emptyLog } from "./log-buffer.ts";

test("a log keeps its last lines and counts the others", () => {
  const log = addLines(
    addLines(
      emptyLog,
      Array.from({ length: 4999 }, (_, at) => `${at}`),
    ),
    ["a", "b", "c"],
  );
  assert.equal(log.lines.length, 5000);
  assert.equal(log.dropped, 2);
  assert.deepEqual([log.lines[0], log.lines.at(-1)], ["2", "c"]);
});

test("a very long line is truncated", () => {
  assert.equal(addLines(emptyLog, ["x".repeat(20_000)]).lines[0]!.length, 10_001);
});
