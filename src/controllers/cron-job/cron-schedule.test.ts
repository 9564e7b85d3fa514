import assert from "node:assert/strict";
import { test } from "node:test";
import { dueTime } from "./cron-job.ts";
import { parseCron } from "./cron-schedule.ts";

const at = (text: string): number => Date.parse(text);
const cases: [schedule: string, zone: string, after: string, next: string][] = [
  ["* * * * *", "UTC", "2030-01-01T00:00:30Z", "2030-01-01T00:01:00Z"],
  ["*/15 * * * *", "UTC", "2030-01-01T00:14:59Z", "2030-01-01T00:15:00Z"],
  ["0 3 * * mon-fri", "UTC", "2030-01-04T04:00:00Z", "2030-01-07T03:00:00Z"],
  ["30 12 29 2 *", "UTC", "2030-01-01T00:00:00Z", "2032-02-29T12:30:00Z"],
  ["0 0 13 * 5", "UTC", "2030-01-01T00:00:00Z", "2030-01-04T00:00:00Z"],
  ["@hourly", "UTC", "2030-01-01T00:00:00Z", "2030-01-01T01:00:00Z"],
  ["0 9 * * *", "Europe/Berlin", "2030-07-01T00:00:00Z", "2030-07-01T07:00:00Z"],
  ["30 2 * * *", "Europe/Berlin", "2030-03-31T00:00:00Z", "2030-04-01T00:30:00Z"],
  ["*/20 * * * *", "Europe/Berlin", "2030-03-31T00:40:00Z", "2030-03-31T01:00:00Z"],
  ["*/15 * * * *", "Europe/Berlin", "2030-10-27T00:31:00Z", "2030-10-27T00:45:00Z"],
  ["*/15 * * * *", "Europe/Berlin", "2030-10-27T00:45:00Z", "2030-10-27T01:00:00Z"],
  ["*/15 * * * *", "Europe/Berlin", "2030-10-27T01:45:00Z", "2030-10-27T02:00:00Z"],
  ["30 2 * * *", "Europe/Berlin", "2030-10-26T12:00:00Z", "2030-10-27T00:30:00Z"],
  ["30 2 * * *", "Europe/Berlin", "2030-10-27T00:30:00Z", "2030-10-27T01:30:00Z"],
  ["30 2 * * *", "Europe/Berlin", "2030-10-27T01:30:00Z", "2030-10-28T01:30:00Z"],
  ["0 1 * * *", "America/New_York", "2012-11-04T05:00:00Z", "2012-11-04T06:00:00Z"],
  ["0 0 * * *", "America/Sao_Paulo", "2017-10-14T03:00:00Z", "2017-10-16T02:00:00Z"],
  ["TZ=Asia/Tokyo 0 9 * * *", "UTC", "2030-01-01T00:00:00Z", "2030-01-02T00:00:00Z"],
];
for (const [schedule, zone, after, next] of cases)
  test(`${schedule} in ${zone} after ${after} is ${next}`, () =>
    assert.equal(parseCron(schedule, zone).next(at(after)), at(next)));

for (const wrong of ["* * * *", "61 * * * *", "a * * * *", "*/0 * * * *", "5-1 * * * *"])
  test(`${wrong} is not a valid schedule`, () =>
    assert.throws(() => parseCron(wrong), { name: "CronError" }));
test("an unknown time zone is rejected", () =>
  assert.throws(() => parseCron("* * * * *", "Mars/Olympus"), /unknown time zone/));

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
