import assert from "node:assert/strict";
import { test } from "node:test";
import type { BucketList } from "../api/wire.ts";
import { stackOf } from "./stack.ts";

test("bars are stacked: changes, normal events, warnings", () => {
  const group = (type: string, counts: number[]) => ({ by: { type }, total: 0, counts });
  const list = {
    start: "1970-01-01T00:01:40Z",
    intervalSeconds: 10,
    intervals: 2,
    groups: [
      group("Normal", [1, 2]),
      group("Warning", [0, 3]),
      group("Created", [1, 0]),
      group("Changed", [1]),
    ],
  } as unknown as BucketList;
  assert.deepEqual(stackOf(list), {
    times: [105, 115],
    changes: [2, 0],
    normal: [3, 2],
    warnings: [3, 5],
    totals: { change: 2, normal: 3, warning: 3 },
  });
});
