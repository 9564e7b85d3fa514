// Functions of releases after 1.27: their results, and the first release that has them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Double, type Value, compile, environment, types } from "../index.ts";

const variables = { data: types.dyn, count: types.int };
const bindings = { data: { labels: { app: "web" }, list: [1, 2] }, count: 3 };

function evaluate(source: string, release: number): Value | { error: string } {
  const compiled = compile(environment({ release }), source, { variables, libraryCosts: true });
  if ("error" in compiled) return { error: compiled.error };
  const outcome = compiled.program.evaluate(bindings, 1_000_000);
  return "value" in outcome ? outcome.value : { error: outcome.error };
}

const cases: [source: string, release: number, value: Value][] = [
  ["count < 3.5 && 2u < count", 28, true],
  ["data.?labels.?app.orValue('none')", 28, "web"],
  ["data.?labels.?tier.orValue('none')", 28, "none"],
  ["data.list[?5].hasValue()", 28, false],
  ["optional.of(1).or(optional.of(2)).value()", 28, 1],
  ["[?data.?labels.?app, ?data.?labels.?tier, 'x']", 28, ["web", "x"]],
  ["{?'a': data.?absent, 'b': optional.of(1).value()}.size()", 28, 1],
  ["data.?list.optMap(l, l.size()).orValue(0)", 28, 2],
  ["optional.ofNonZeroValue('').hasValue()", 28, false],
  ["quantity('1.5Gi').isGreaterThan(quantity('1G'))", 28, true],
  ["quantity('100m').add(quantity('0.9')).asInteger()", 28, 1],
  ["quantity('2').sub(1) == quantity('1000m')", 28, true],
  ["sign(quantity('-3k'))", 28, -1],
  ["isQuantity('1.3Gib')", 28, false],
  ["quantity('1500m').asApproximateFloat()", 28, new Double(1.5)],
  ["sets.contains([1, 2, 3], [2]) && sets.equivalent([1, 1], [1]) && !sets.intersects([1], [2])", 29, true],
  ["'%s has %d of %.1f'.format(['a', 2, 2.25])", 29, "a has 2 of 2.2"],
  ["'%x %b %o %X'.format([255, 5, 8, 'hi'])", 29, "ff 101 10 6869"],
  ["'%f'.format([1234567.0])", 29, "1,234,567.000000"],
  ["strings.quote('a\"b')", 29, '"a\\"b"'],
  ["ip('10.0.0.1').family() == 4 && ip('::1').isLoopback() && !isIP('10.0.0.256')", 30, true],
  ["ip.isCanonical('2001:db8::1') && !ip.isCanonical('2001:DB8::1')", 30, true],
  ["cidr('10.0.0.0/8').containsIP('10.1.2.3') && !cidr('10.0.0.0/8').containsIP(ip('11.0.0.1'))", 30, true],
  ["cidr('192.168.0.0/16').containsCIDR('192.168.0.0/24')", 30, true],
  ["string(cidr('192.168.3.5/16').masked()) + ' ' + string(cidr('::1/128').ip())", 30, "192.168.0.0/16 ::1"],
  ["cidr('10.0.0.0/8').prefixLength()", 30, 8],
  ["format.dns1123Label().validate('a-b').hasValue()", 31, false],
  ["format.named('uuid').value().validate('x').value()", 31, ["does not match the UUID format"]],
  ["format.named('none').hasValue()", 31, false],
];
for (const [source, release, value] of cases)
  test(`${source} is available since release 1.${release}`, () => {
    assert.deepEqual(evaluate(source, release), value);
    const before = evaluate(source, release - 1);
    assert.ok(typeof before === "object" && before !== null && "error" in before, "known before");
  });

const failures: [source: string, error: string][] = [
  ["optional.none().value() == 1", "optional.none() dereference"],
  [
    "quantity('x').isInteger()",
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
  ],
  ["quantity('0.5').asInteger() == 1", "cannot convert value to integer"],
  ["ip('::ffff:1.2.3.4').family() == 4", 'IPv4-mapped IPv6 address "::ffff:1.2.3.4" is not allowed'],
  ["ip('fe80::1%eth0').family() == 6", 'IP address "fe80::1%eth0" with zone value is not allowed'],
  [
    "'%d'.format([dyn('a')]) == ''",
    "error during formatting: decimal clause can only be used on integers, was given string",
  ],
  ["('%' + 's').format([]) == ''", "index 0 out of range"],
];
for (const [source, error] of failures)
  test(`${source} fails`, () => assert.deepEqual(evaluate(source, 31), { error }));

const refused: [source: string, message: string][] = [
  [
    "'%d'.format(['a'])",
    "1:14: error during formatting: decimal clause can only be used on integers, was given string",
  ],
  [
    "'%x'.format([1.5])",
    "1:14: error during formatting: only integers, byte buffers, and strings can be formatted as hex, was given double",
  ],
  ["'%d %s'.format([1])", "1:15: index 1 out of range"],
  ["'%d'.format([1, 2])", "1:12: too many arguments supplied to string.format (expected 1, got 2)"],
  ["'%z'.format([1])", '1:12: could not parse formatting clause: unrecognized formatting clause "z"'],
];
for (const [source, message] of refused)
  test(`${source} is rejected at compile time`, () => {
    const found = evaluate(source, 31) as { error: string };
    assert.equal(found.error.split("\n")[0], `ERROR: <input>:${message}`);
  });
