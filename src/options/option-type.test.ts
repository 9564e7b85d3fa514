import assert from "node:assert/strict";
import { test } from "node:test";
import {
  headers,
  listOf,
  mapOf,
  singleListOf,
  pairs,
  repeated,
  splitCommas,
  strings,
  struct,
} from "./list-type.ts";
import { cidr, cidrs, ip, portRange, url } from "./net-type.ts";
// prettier-ignore
import { type OptionType, type ValueCheck, above, atLeast, between, bool, duration, each, float, int, int32, level, listed, maybe, nanoseconds, notNegative, oneOf, quantity, text, uint32 } from "./option-type.ts";
import { Refusal } from "./refusal.ts";
import { verboseModules } from "./common.ts";

const refused = Symbol("refused");
const attempt = (run: () => unknown): unknown => {
  try {
    return run();
  } catch (error) {
    if (error instanceof Refusal) return refused;
    throw error;
  }
};

// Values parsed from flags.
const parsed: [name: string, type: OptionType<unknown>, text: string, value: unknown][] = [
  ["text", text, "a,b=c", "a,b=c"],
  ["bool", bool, "TRUE", true],
  ["bool", bool, "0", false],
  ["bool", bool, "yes", refused],
  ["int", int, "-12", -12],
  ["int", int, "0x1F", 31],
  ["int", int, "0o17", 15],
  ["int", int, "017", 15],
  ["int", int, "0b101", 5],
  ["int", int, "1.5", refused],
  ["int", int, "", refused],
  ["int", int, "12x", refused],
  ["int32", int32, "2147483647", 2147483647],
  ["int32", int32, "2147483648", refused],
  ["uint32", uint32, "-1", refused],
  ["level", level, "4", 4],
  ["float", float, "1e-2", 0.01],
  ["float", float, ".5", 0.5],
  ["float", float, "NaN", refused],
  ["duration", duration, "1h2m3.5s", 3_723_500],
  ["duration", duration, "100us", 0.1],
  ["duration", duration, "-5s", -5000],
  ["duration", duration, "0", 0],
  ["duration", duration, "5", refused],
  ["duration", duration, "5parsecs", refused],
  ["quantity", quantity, "10Mi", "10Mi"],
  ["quantity", quantity, "lots", refused],
  ["oneOf", oneOf("a", "b"), "b", "b"],
  ["oneOf", oneOf("a", "b"), "B", refused],
  ["strings", strings, "", []],
  ["strings", strings, 'a,"b,c",d', ["a", "b,c", "d"]],
  ["strings", strings, '"a', refused],
  ["repeated", repeated(text), "a,b", ["a,b"]],
  ["pairs", pairs, "a=b,c=d=e", { a: "b", c: "d=e" }],
  ["pairs", pairs, "a", refused],
  ["pairs", pairs, "=b", refused],
  ["map with a bare value", mapOf(text, { bareValue: "true" }), "a,b=false", { a: "true", b: "false" }],
  ["map of known keys", mapOf(quantity, { keys: ["cpu"] }), "cpu=1", { cpu: "1" }],
  ["map of known keys", mapOf(quantity, { keys: ["cpu"] }), "bananas=1", refused],
  ["map of known keys", mapOf(quantity, { keys: ["cpu"] }), "cpu=fast", refused],
  ["map with another separator", mapOf(text, { separator: "<" }), "memory<1Gi", { memory: "1Gi" }],
  ["headers", headers, "A:1,B:2,A:3", { A: ["1", "3"], B: ["2"] }],
  ["headers", headers, "nocolon", refused],
  ["ip", ip, "::1", "::1"],
  ["ip", ip, "", ""],
  ["ip", ip, "300.1.1.1", refused],
  ["cidr", cidr, "fd00::/112", "fd00::/112"],
  ["cidr", cidr, "10.0.0.0/33", refused],
  ["cidr", cidr, "10.0.0.0", refused],
  ["cidrs", cidrs, "10.0.0.0/8,192.168.0.0/16", ["10.0.0.0/8", "192.168.0.0/16"]],
  ["portRange", portRange, "30000-32767", { from: 30000, to: 32767 }],
  ["portRange", portRange, "30000+10", { from: 30000, to: 30010 }],
  ["portRange", portRange, "80", { from: 80, to: 80 }],
  ["portRange", portRange, "50-40", refused],
  ["portRange", portRange, "1-70000", refused],
  ["url", url("https"), "https://x.example/y", "https://x.example/y"],
  ["url", url("https"), "http://x.example", refused],
  ["url", url("https"), "nonsense", refused],
  [
    "vmodule",
    verboseModules,
    "a*=4,b=1",
    [
      { pattern: "a*", level: 4 },
      { pattern: "b", level: 1 },
    ],
  ],
  ["vmodule", verboseModules, "bad", refused],
];
for (const [name, type, given, value] of parsed) {
  test(`the flag text ${JSON.stringify(given)} as ${name} is ${value === refused ? "refused" : JSON.stringify(value)}`, () =>
    assert.deepEqual(
      attempt(() => type.parse(given)),
      value,
    ));
}

// Values read from a file.
const shape = struct<{ key: string; count?: number }>({
  key: { type: text, required: true },
  count: { type: int32 },
});
const read: [name: string, type: OptionType<unknown>, given: unknown, value: unknown][] = [
  ["text", text, 5, refused],
  ["bool", bool, "true", refused],
  ["int32", int32, 5, 5],
  ["int32", int32, 5.5, refused],
  ["int32", int32, "5", refused],
  ["float", float, 0.5, 0.5],
  ["duration", duration, "1m", 60_000],
  ["duration", duration, 60, refused],
  ["nanoseconds", nanoseconds, 5_000_000_000, 5000],
  ["nanoseconds", nanoseconds, "5s", 5000],
  ["quantity", quantity, 512, "512"],
  ["strings", strings, ["a", "b"], ["a", "b"]],
  ["strings", strings, "a", refused],
  ["strings", strings, ["a", 1], refused],
  ["pairs", pairs, { a: "b" }, { a: "b" }],
  ["pairs", pairs, { a: 1 }, refused],
  ["pairs", pairs, null, {}],
  ["headers", headers, { A: ["1", "2"] }, { A: ["1", "2"] }],
  ["maybe", maybe(int32), null, undefined],
  ["struct", shape, { key: "a" }, { key: "a" }],
  ["struct", shape, { count: 1 }, refused],
  ["struct", shape, { key: "a", more: 1 }, refused],
  ["list of structs", listOf(shape), [{ key: "a", count: 1 }], [{ key: "a", count: 1 }]],
  ["vmodule", verboseModules, [{ filePattern: "a", verbosity: 2 }], [{ pattern: "a", level: 2 }]],
];
for (const [name, type, given, value] of read) {
  test(`the file value ${JSON.stringify(given)} as ${name} is ${value === refused ? "refused" : JSON.stringify(value)}`, () =>
    assert.deepEqual(
      attempt(() => type.read(given)),
      value,
    ));
}

// A value written to a file and read again is unchanged.
const written: [name: string, type: OptionType<unknown>, value: unknown, file: unknown][] = [
  ["duration", duration, 90_000, "1m30s"],
  ["nanoseconds", nanoseconds, 5000, 5_000_000_000],
  ["portRange", portRange, { from: 1, to: 2 }, "1-2"],
  ["list of structs", listOf(shape), [{ key: "a", count: 1 }], [{ key: "a", count: 1 }]],
  ["vmodule", verboseModules, [{ pattern: "a", level: 2 }], [{ filePattern: "a", verbosity: 2 }]],
  ["headers", headers, { A: ["1"] }, { A: ["1"] }],
];
for (const [name, type, value, file] of written) {
  test(`${name} is written as ${JSON.stringify(file)} and reads back`, () => {
    assert.deepEqual(type.write(value), file);
    assert.deepEqual(type.read(file), value);
  });
}

test("a value's flag text parses back to it", () => {
  const values: [OptionType<unknown>, unknown][] = [
    [strings, ["a,b", 'c"d', "e"]],
    [duration, 1500],
    [pairs, { a: "b", c: "d" }],
    [portRange, { from: 1, to: 9 }],
    [headers, { A: ["1", "2"] }],
  ];
  for (const [type, value] of values) assert.deepEqual(type.parse(type.format(value)), value);
});

test("an error inside a value has its location", () => {
  assert.throws(
    () => listOf(shape).read([{ key: "a" }, { key: "b", count: "x" }]),
    (error) => error instanceof Refusal && error.at === "[1].count",
  );
});

test("commas split as in a comma-separated file", () =>
  assert.deepEqual(splitCommas('a,,"b""c",'), ["a", "", 'b"c', ""]));

test("lists append when a flag is repeated, single lists do not", () => {
  assert.deepEqual(strings.append?.(["a"], "b,c"), ["a", "b", "c"]);
  assert.equal(singleListOf(text, "x").append, undefined);
});

const bounds: [
  name: string,
  check: ValueCheck<number>,
  allowed: number[],
  refused: number[],
  words: string,
][] = [
  ["from 1 to 3", between(1, 3), [1, 3], [0, 4], "must be from 1 to 3"],
  ["at least 2", atLeast(2), [2, 3], [1], "must not be below 2"],
  ["above 0", above(0), [0.1, 1], [0, -1], "must be above 0"],
  ["not negative", notNegative, [0, 1], [-1], "must not be negative"],
];
for (const [name, check, allowed, wrong, words] of bounds) {
  test(`a value must be ${name}`, () => {
    for (const value of allowed) assert.equal(check(value), undefined, String(value));
    for (const value of wrong) assert.equal(check(value), words, String(value));
  });
}

test("the error of a list names the first invalid value", () =>
  assert.equal(each(atLeast(2))([2, 1, 0]), "1 must not be below 2"));

test('choices are listed with "or"', () =>
  assert.deepEqual([[], ["a"], ["a", "b"], ["a", "b", "c"]].map(listed), ["", "a", "a or b", "a, b or c"]));
