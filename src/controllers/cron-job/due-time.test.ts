import assert from "node:assert/strict";
import { test } from "node:test";
import { parseCron } from "#base";
import { dueTime, timeAfter } from "./cron-job.ts";

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

test("the last time is found though the only times in a year lie close together", () => {
  const due = dueTime(parseCron("* * * 1 *", "Europe/Berlin"), {
    earliest: at("2029-12-15T00:00:00Z"),
    now: at("2030-12-20T00:00:00Z"),
    deadlineSeconds: undefined,
  });
  assert.deepEqual(due, { at: at("2030-01-31T22:59:00Z"), tooMany: true });
});

const nextCases: [name: string, schedule: string, earliest: string, now: string, next: string][] = [
  ["a period counts from the last time", "@every 24h", "01T00:00:00Z", "01T23:00:00Z", "02T00:00:00Z"],
  ["a period counts from the last missed time", "@every 1h", "01T00:00:00Z", "02T00:20:07Z", "02T01:00:00Z"],
  ["times of day follow now", "0 9 * * *", "01T09:00:00Z", "05T08:00:00Z", "05T09:00:00Z"],
  ["a clock that was set back delays nothing", "@every 1m", "09T00:00:00Z", "01T00:00:00Z", "01T00:01:00Z"],
];
for (const [name, schedule, earliest, now, next] of nextCases)
  test(`of the next times, ${name}`, () => {
    const day = (text: string): number => at(`2030-01-${text}`);
    assert.equal(timeAfter(parseCron(schedule, "UTC"), day(earliest), day(now)), day(next));
  });
