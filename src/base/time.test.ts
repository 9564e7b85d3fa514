import { test } from "node:test";
import assert from "node:assert/strict";
import {
  canonicalMicroTime,
  canonicalTime,
  formatTime,
  microTimeOfMillis,
  millisOfTime,
  parseMicroTime,
  parseTime,
  timeOfMillis,
} from "#base";
import fc from "fast-check";

const times: [from: string, to: string | null][] = [
  ["2008-01-01T01:01:01Z", "2008-01-01T01:01:01Z"],
  ["2008-01-31T23:30:00-01:00", "2008-02-01T00:30:00Z"],
  ["2000-03-01T00:00:00+05:30", "2000-02-29T18:30:00Z"],
  ["2008-01-01T01:01:01.999999999Z", "2008-01-01T01:01:01Z"],
  ["2008-01-01T1:01:01Z", "2008-01-01T01:01:01Z"],
  ["1969-12-31T23:59:59Z", "1969-12-31T23:59:59Z"],
  ["0001-01-01T00:00:00Z", null],
  ["0001-01-01T01:00:00+01:00", null],
  ["9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z"],
  ["2024-02-29T00:00:00Z", "2024-02-29T00:00:00Z"],
];
for (const [from, to] of times)
  test(`the time ${from} becomes ${to}`, () => assert.equal(canonicalTime(from), to));

for (const text of [
  "",
  "2008-01-01",
  "2008-01-01 01:01:01Z",
  "2008-13-01T01:01:01Z",
  "2023-02-29T00:00:00Z",
  "2008-01-01T24:00:00Z",
  "2008-01-01T00:60:00Z",
  "2008-01-01T00:00:60Z",
  "2008-01-01T00:00:00",
  "2008-01-01T00:00:00+25:00",
])
  test(`"${text}" is no time`, () => assert.throws(() => canonicalTime(text), { name: "TimeError" }));

test("a micro time has six fractional digits, whatever its offset, and any other number is rejected", () => {
  assert.equal(canonicalMicroTime("2002-01-01T02:01:01.000002+01:00"), "2002-01-01T01:01:01.000002Z");
  assert.throws(() => canonicalMicroTime("2002-01-01T01:01:01Z"));
  assert.throws(() => canonicalMicroTime("2002-01-01T01:01:01.0000021Z"));
  assert.equal(microTimeOfMillis(1.5), "1970-01-01T00:00:00.001500Z");
});

test("times agree with Date over the centuries", () => {
  fc.assert(
    fc.property(
      fc.date({
        min: new Date("0001-01-02T00:00:00Z"),
        max: new Date("9999-12-31T00:00:00Z"),
        noInvalidDate: true,
      }),
      (date) => {
        const text = timeOfMillis(date.getTime());
        assert.equal(text, `${date.toISOString().slice(0, 19)}Z`);
        assert.equal(formatTime(parseTime(text)), text);
        assert.equal(Math.floor(millisOfTime(text) / 1000), Math.floor(date.getTime() / 1000));
      },
    ),
  );
});

const misfits: [text: string, reader: typeof parseTime, message: string][] = [
  ["2024-02-03T04:05:06Z", parseMicroTime, 'cannot parse "Z" as ".000000"'],
  ["2024-02-03T04:05:06.1234567Z", parseMicroTime, 'cannot parse "7Z" as "Z07:00"'],
  ["2024-02-03", parseTime, 'cannot parse "" as "T"'],
  ["2024-2-03T04:05:06Z", parseTime, 'cannot parse "2-03T04:05:06Z" as "01"'],
  ["2024-02-03T04:05:06", parseTime, 'cannot parse "" as "Z07:00"'],
  ["2024-02-03T04:05:06Zx", parseTime, ': extra text: "x"'],
];
for (const [text, reader, message] of misfits) {
  test(`"${text}" is rejected at the position where it deviates from its layout`, () =>
    assert.throws(
      () => reader(text),
      (error: Error) => error.message.endsWith(message),
    ));
}
