import assert from "node:assert/strict";
import { test } from "node:test";
import { addressProblem } from "./address-problem.ts";

for (const text of [
  "10.0.0.1",
  "::",
  "::1",
  "2001:db8::1",
  "1:2:3:4:5:6:7:8",
  "1::",
  "::ffff:1.2.3.4",
  "1:2:3:4:5:6:7.8.9.10",
  "fe80::1%eth0",
])
  test(`${text} is an address`, () => assert.equal(addressProblem(text), undefined));

const cases: [text: string, problem: string][] = [
  ["", "unable to parse IP"],
  ["x", "unable to parse IP"],
  ["%a", "missing IPv6 address"],
  ["10.01.1.1", "IPv4 field has octet with leading zero"],
  ["1.2.3.300", "IPv4 field has value >255"],
  ["1..2.3", 'IPv4 field must have at least one digit (at ".2.3")'],
  ["1.2.3.4.5", "IPv4 address too long"],
  ["1.2.3", "IPv4 address too short"],
  ["1.2.3.x", 'unexpected character (at "x")'],
  ["fe80::1%", "zone must be a non-empty string"],
  ["12345::", 'IPv6 field has value >=2^16 (at "12345::")'],
  [":1", 'each colon-separated field must have at least one digit (at ":1")'],
  ["1:", 'colon must be followed by more characters (at ":")'],
  ["1g::", 'unexpected character, want colon (at "g::")'],
  ["1:2::3::4", 'multiple :: in address (at ":4")'],
  ["1:2", "address string too short"],
  ["1:2:3:4:5:6:7:8:9", 'trailing garbage after address (at "9")'],
  ["1:2:3:4:5:6:7::8", "the :: must expand to at least one field of zeros"],
  ["1:1.2.3.4", 'embedded IPv4 address must replace the final 2 fields of the address (at "1.2.3.4")'],
  ["::1.2.3.4.5", 'ParseAddr("1.2.3.4.5"): IPv4 address too long (at "1.2.3.4.5")'],
];
for (const [text, problem] of cases)
  test(`${JSON.stringify(text)} is not an address: ${problem}`, () =>
    assert.equal(addressProblem(text), `ParseAddr(${JSON.stringify(text)}): ${problem}`));
