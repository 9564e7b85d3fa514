import assert from "node:assert/strict";
import { test } from "node:test";
import { isTimeZone, parseCron } from "./cron-schedule.ts";

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
  ["TZ= 0 9 * * *", "Asia/Tokyo", "2030-01-01T00:00:00Z", "2030-01-01T09:00:00Z"],
  ["5,,10, * * * *", "UTC", "2030-01-01T00:05:00Z", "2030-01-01T00:10:00Z"],
  ["*-5 * * * *", "UTC", "2030-01-01T00:05:00Z", "2030-01-01T00:06:00Z"],
  ["0 0 *-9 * fri", "UTC", "2030-01-01T00:00:00Z", "2030-01-04T00:00:00Z"],
  ["+5 * * * *", "UTC", "2030-01-01T00:00:00Z", "2030-01-01T00:05:00Z"],
  ["@every 1h30m", "UTC", "2030-01-01T00:00:00.500Z", "2030-01-01T01:30:00Z"],
  ["@every .5h", "UTC", "2030-01-01T00:00:00Z", "2030-01-01T00:30:00Z"],
  ["@every 1us", "UTC", "2030-01-01T00:00:00Z", "2030-01-01T00:00:01Z"],
  ["@every -5m", "UTC", "2030-01-01T00:00:00Z", "2030-01-01T00:00:01Z"],
];
for (const [schedule, zone, after, next] of cases)
  test(`${schedule} in ${zone} after ${after} is ${next}`, () =>
    assert.equal(parseCron(schedule, zone).next(at(after)), at(next)));

test("a schedule without any minute, hour or day never matches", () => {
  for (const never of [", * * * *", "* , * * *", "* * , * ,", "* * * , *", "0 0 31 feb *"])
    assert.equal(parseCron(never, "UTC").next(at("2030-01-01T00:00:00Z")), undefined, never);
});

test("an unknown time zone is rejected", () =>
  assert.throws(() => parseCron("* * * * *", "Mars/Olympus"), /unknown time zone/));

const good = [
  "* * * * *",
  "0 0 1 1 0",
  "*/15 0-6 1,15 jan-mar mon-fri",
  "0/5 * ? * *",
  "@daily",
  "@every 1h30m",
  "CRON_TZ=Europe/Berlin 0 4 * * *",
];
for (const text of good) test(`"${text}" is a valid schedule`, () => void parseCron(text));

const int = (text: string, why = "invalid syntax"): string =>
  `failed to parse int from ${text}: strconv.Atoi: parsing "${text}": ${why}`;
const bad: [text: string, message: string][] = [
  ["* * * *", "expected exactly 5 fields, found 4: [* * * *]"],
  [" @daily", "expected exactly 5 fields, found 1: [@daily]"],
  ["constructor", "expected exactly 5 fields, found 1: [constructor]"],
  ["60 * * * *", "end of range (60) above maximum (59): 60"],
  ["* 24 * * *", "end of range (24) above maximum (23): 24"],
  ["* * 0 * *", "beginning of range (0) below minimum (1): 0"],
  ["* * * 13 *", "end of range (13) above maximum (12): 13"],
  ["* * * * 7", "end of range (7) above maximum (6): 7"],
  ["5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1"],
  ["*/0 * * * *", "step of range should be a positive number: */0"],
  ["* * * */jan *", int("jan")],
  ["*/-1 * * * *", "negative number (-1) not allowed: -1"],
  ["0/9223372036854775808 * * * *", int("9223372036854775808", "value out of range")],
  ["a * * * *", int("a")],
  ["5- * * * *", int("")],
  ["1-2-3 * * * *", "too many hyphens: 1-2-3"],
  ["1/2/3 * * * *", "too many slashes: 1/2/3"],
  ["@often", "unrecognized descriptor: @often"],
  ["@daily ", "unrecognized descriptor: @daily "],
  ["@every soon", 'failed to parse duration @every soon: time: invalid duration "soon"'],
  ["@every  5m", 'failed to parse duration @every  5m: time: invalid duration " 5m"'],
  ["TZ=Nowhere 0 0 * * *", "provided bad location Nowhere: unknown time zone Nowhere"],
  ["TZ=+01:00 0 0 * * *", "provided bad location +01:00: unknown time zone +01:00"],
  ["TZ=UTC TZ=UTC 0 0 * * *", "expected exactly 5 fields, found 6: [TZ=UTC 0 0 * * *]"],
];
for (const [text, message] of bad)
  test(`"${text}" is an invalid schedule`, () =>
    assert.throws(() => parseCron(text), { name: "CronError", message }));

// prettier-ignore
const zones: [string, boolean][] = [["UTC", true], ["Europe/Berlin", true], ["../etc/passwd", false], ["+01:00", false], ["Mars/Base", false],
  ["europe/berlin", false], ["EUROPE/BERLIN", false], ["utc", false], ["us/pacific", false], ["US/Pacific", true],
  ["EST5EDT", true], ["America/Port_of_Spain", true], ["GMT", true], ["NZ-CHAT", true]];
for (const [zone, known] of zones)
  test(`${zone} is ${known ? "a known" : "an unknown"} time zone`, () =>
    assert.equal(isTimeZone(zone), known));
