import assert from "node:assert/strict";
import { test } from "node:test";
import { parseCron } from "#base";
import { dueTime } from "./cron-job.ts";

const at = (text: string): number => Date.parse(text);

test("the last of many missed times is due, and too many missed times are reported", () => {
  const schedule = parseCron("* * * * *", "UTC");
  const now = at("2030-01-01T10:00:30Z");
  const found = dueTime(schedule, { earliest: at("2030-01-01T00:00:00Z"), now, deadlineSeconds: undefined });
  assert.deepEqual(found, { at: at("2030-01-01T10:00:00Z"), tooMany: true });
  const recent = dueTime(schedule, { earliest: at("2030-01-01T00:00:00Z"), now, deadlineSeconds: 10 });
  assert.deepEqual(recent, { at: undefined, tooMany: false });
});

test("the last of the missed times is due, though periods differ", () => {
  const due = dueTime(parseCron("0 9,10 * * *", "UTC"), {
    earliest: at("2030-01-01T00:00:00Z"),
    now: at("2030-01-05T08:00:00Z"),
    deadlineSeconds: undefined,
  });
  assert.equal(due.at, at("2030-01-04T10:00:00Z"));
});
