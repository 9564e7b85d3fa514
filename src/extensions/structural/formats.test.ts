import assert from "node:assert/strict";
import { test } from "node:test";
import { formatCheck } from "./formats.ts";

const cases: [format: string, good: string[], bad: string[]][] = [
  [
    "date-time",
    ["2020-01-02T03:04:05Z", "2020-01-02T03:04:05.5+02:00"],
    ["2020-01-02", "2020-02-30T00:00:00Z"],
  ],
  ["date", ["2020-02-29"], ["2020-1-2", "2021-02-29"]],
  ["duration", ["1h3m", "3 days", "5 hours"], ["5 lightyears", "soon"]],
  ["ipv4", ["10.0.0.1", "010.0.0.01", "::ffff:10.0.0.1"], ["::1", "10.0.0", "0256.0.0.1"]],
  ["ipv6", ["::1"], ["10.0.0.1"]],
  ["cidr", ["10.0.0.0/8", "010.0.0.0/08", "::/0"], ["10.0.0.1", "10.0.0.0/33", "10.0.0.0/8/1"]],
  ["uri", ["https://x.example/a", "/only/path", "mailto:x", "*"], ["not a uri", "", "relative"]],
  ["email", ["a@b.example", "Ann <a@b>"], ["nobody", "@b", "a@"]],
  ["hostname", ["a.example", "localhost"], ["-bad-", "a..b"]],
  ["mac", ["00:11:22:33:44:55", "0011.2233.4455"], ["00:11", "00:11:22-33:44:55"]],
  ["uuid", ["A1234567-1234-1234-1234-123456789abc"], ["xyz"]],
  ["uuid4", ["a1234567-1234-4234-8234-123456789abc"], ["a1234567-1234-1234-1234-123456789abc"]],
  ["byte", ["aGk=", "aGkh"], ["not base64!", "aGk", "", "aGk\n"]],
  ["hexcolor", ["#fff", "a0b1c2"], ["#ggg"]],
  ["rgbcolor", ["rgb(1,2,3)"], ["rgb(300,1,1)"]],
  ["isbn", ["978-0321751041", "0321751043"], ["123"]],
  ["creditcard", ["4111 1111 1111 1111"], ["1234", "4111 1111 1111 1112"]],
  ["ssn", ["111-22-3333"], ["1"]],
  ["bsonobjectid", ["507f1f77bcf86cd799439011"], ["x"]],
  ["password", ["", "anything"], []],
];
for (const [format, good, bad] of cases) {
  test(`valid and invalid values of the format ${format}`, () => {
    const check = formatCheck(format)!;
    for (const text of good) assert.ok(check(text), `${text} is one`);
    for (const text of bad) assert.ok(!check(text), `${text} is none`);
  });
}

test("unknown formats are not checked", () => {
  assert.equal(formatCheck("my-own"), undefined);
  assert.equal(formatCheck("int32"), undefined);
  assert.equal(formatCheck("constructor"), undefined);
});

test("a duration of many digits is refused without trying every way to divide them", () => {
  assert.equal(formatCheck("duration")!("1".repeat(1_000_000)), false);
});
