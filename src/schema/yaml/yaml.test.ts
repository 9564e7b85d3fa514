import assert from "node:assert/strict";
import { test } from "node:test";
import { compareNaturally } from "./natural-order.ts";
import fc from "fast-check";
import {
  apiPackage,
  decodeYaml,
  embedded,
  encodeYaml,
  int32,
  list,
  map,
  optional,
  parseYaml,
  parseYamlDocuments,
  printYaml,
  quantity,
  required,
  string,
  time,
  yamlToJson,
} from "#schema";

const scalars: [text: string, json: string][] = [
  ["y", "true"], ["Yes", "true"], ["ON", "true"], ["true", "true"], ["n", "false"], ["No", "false"], ["off", "false"], ["yEs", '"yEs"'], ["oN", '"oN"'],
  ["~", "null"], ["null", "null"], ["", "null"], ["nUll", '"nUll"'],
  ["12", "12"], ["+12", "12"], ["-12", "-12"], ["0777", "511"], ["0o17", "15"], ["0x1F", "31"], ["-0x10", "-16"], ["0b11", "3"], ["-0b11", "-3"], ["1_000", "1000"], ["08", "8"], ["0", "0"], ["-0", "0"],
  ["9223372036854775807", "9223372036854775807"], ["18446744073709551615", "18446744073709551615"], ["9007199254740993", "9007199254740993"],
  ["1.5", "1.5"], [".5", "0.5"], ["1.", "1"], ["1e3", "1000"], ["+.5", "0.5"], ["1e400", '"1e400"'], ["1.2.3", '"1.2.3"'], ["0x", '"0x"'], ["1:30", '"1:30"'], ["0x1p3", '"0x1p3"'],
  ["2020-01-01", '"2020-01-01"'], ["2020-01-01T00:00:00Z", '"2020-01-01T00:00:00Z"'],
  ["'12'", '"12"'], ['"yes"', '"yes"'], ['"a\\tb"', '"a\\tb"'], ["!!str 12", '"12"'], ['!!int "12"', "12"], ["!!float 1", "1"], ["!!binary aGk=", '"hi"'], ["!mine x", '"x"'],
  ["|\n  a\n  b\n", '"a\\nb\\n"'], [">-\n  a\n  b\n", '"a b"'], ["[a, 1, {b: no}]", '["a",1,{"b":false}]'], ['{"a":"\\u00e9","b":[1.0]}', '{"a":"é","b":[1]}'],
]; // prettier-ignore
for (const [text, json] of scalars)
  test(`YAML ${JSON.stringify(text)} is parsed as ${json}`, () => assert.equal(yamlToJson(text), json));

const keys: [text: string, json: string][] = [
  ["1: a\ntrue: b\n1.5: c\ny: d\n.inf: e\n0x10: f", '{"1":"a","16":"f","true":"d","1.5":"c",".inf":"e"}'],
  ["? a\n: b", '{"a":"b"}'],
  ["__proto__: 1", '{"__proto__":1}'],
];
for (const [text, json] of keys)
  test(`the keys of ${JSON.stringify(text)} become strings`, () =>
    assert.equal(JSON.stringify(parseYaml(text).value), json));

test("merge keys merge other mappings, earlier ones taking precedence", () => {
  const text =
    "base: &b {x: 1, p: 2}\nmore: &m {p: 3, z: 4}\none:\n  <<: *b\n  x: 9\nboth:\n  <<: [*b, *m]\nquoted:\n  '<<': 1\n";
  assert.deepEqual(parseYaml(text).value, {
    base: { x: 1, p: 2 },
    more: { p: 3, z: 4 },
    one: { x: 9, p: 2 },
    both: { x: 1, p: 2, z: 4 },
    quoted: { "<<": 1 },
  });
  assert.throws(() => parseYaml("a:\n  <<: 5"), /map merge requires map/);
});

test("duplicate keys are reported with their line, and rejected in a conversion to JSON", () => {
  const text = "a: 1\nb:\n  c: 1\n  c: 2\na: 3\n";
  assert.deepEqual(parseYaml(text), {
    value: { a: 3, b: { c: 2 } },
    duplicate: ['line 4: key "c" already set in map', 'line 5: key "a" already set in map'],
  });
  assert.throws(() => yamlToJson(text), {
    name: "YamlError",
    message:
      'yaml: unmarshal errors:\n  line 4: key "c" already set in map\n  line 5: key "a" already set in map',
  });
});

test("a text contains any number of documents", () => {
  assert.deepEqual(
    parseYamlDocuments("a: 1\n---\n---\nb: 2\n...\n").map(({ value }) => value),
    [{ a: 1 }, null, { b: 2 }],
  );
  assert.equal(yamlToJson(""), "null");
  assert.equal(yamlToJson("# nothing"), "null");
});

const wrong: [name: string, text: string | Uint8Array, message: RegExp][] = [
  ["a tab as indentation", "a:\n\t- b", /^yaml: line 2/],
  ["a second colon", "a: b: c", /^yaml: line 1/],
  ["an unknown anchor", "a: *b", /yaml: .*b/],
  ["an anchor inside itself", "a: &a [*a]", /contains itself/],
  ["infinity", "a: .inf", /unsupported value: \+Inf/],
  ["a mapping as key", "{a: 1}: b", /invalid map key/],
  ["a null key", "~: b", /invalid map key/],
  ["an invalid integer", "!!int x", /cannot decode !!str `x` as a !!int/],
  ["a document of another YAML version", "%YAML 1.2\n---\na: b", /incompatible YAML document/],
  ["invalid UTF-8", Uint8Array.of(0x61, 0x3a, 0x20, 0xff), /invalid UTF-8/],
  ["a depth bomb", "[".repeat(2000), /depth|nest/i],
];
for (const [name, text, message] of wrong)
  test(`${name} is refused`, () => assert.throws(() => parseYaml(text), { name: "YamlError", message }));

test("a text with too many values is rejected", () => {
  assert.throws(() => parseYaml(`a: [${"x, ".repeat(250_000)}]`), /exceeded max number of values/);
});

test("nested aliases are rejected before they are expanded", () => {
  const lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"];
  for (let i = 1; i < 9; i++)
    lines.push(`a${i}: &a${i} [${Array.from({ length: 10 }, () => `*a${i - 1}`).join(", ")}]`);
  assert.throws(() => parseYaml(lines.join("\n")), /excessive aliasing/);
});

test("text repeated by aliases is limited", () => {
  const document = (length: number): string =>
    `a: &a {k: ${"x".repeat(length)}}\nb: &b [${"*a, ".repeat(90)}]\nc: [*b, *b]\n`;
  assert.equal(yamlToJson(document(10_000)).length > 2_700_000, true);
  assert.throws(() => parseYaml(document(20_000)), /excessive aliasing/);
});

test("aliases count towards the nesting of the values that contain them", () => {
  const nested = (levels: number, inner: string): string => "[".repeat(levels) + inner + "]".repeat(levels);
  const document = (levels: number): string =>
    `a: &a ${nested(200, "")}\nb: &b ${nested(200, "*a")}\nc: ${nested(levels, "*b")}\n`;
  parseYaml(document(99));
  assert.throws(() => parseYaml(document(100)), /exceeded max depth of 500/);
});

test("an alias and its anchor are separate values", () => {
  const { value } = parseYaml("a: &a {k: [1]}\nb: *a\nc:\n  <<: *a\nd: {e: *a}\n");
  const { a, b, c, d } = value as Record<string, { k: unknown[]; e: { k: unknown[] } }>;
  const lists = [a!.k, b!.k, c!.k, d!.e.k];
  assert.equal(new Set(lists).size, 4);
  assert.deepEqual(lists, [[1], [1], [1], [1]]);
});

const printed: [name: string, value: unknown, text: string][] = [
  ["keys in natural order, sequences not indented", { b: [1, { c: 2, a: [] }], a10: "x", a2: {}, A: null }, "A: null\na2: {}\na10: x\nb:\n- 1\n- a: []\n  c: 2\n"],
  ["lists in lists", [[1, [2]], []], "- - 1\n  - - 2\n- []\n"],
  ["strings that would be read as another type are quoted", { a: ["yes", "n", "null", "~", "", "12", "1e3", "0x1F", "1_000", "2020-01-01x", "1:30", "<<", ".5"] }, 'a:\n- "yes"\n- "n"\n- "null"\n- "~"\n- ""\n- "12"\n- "1e3"\n- "0x1F"\n- "1_000"\n- 2020-01-01x\n- "1:30"\n- "<<"\n- ".5"\n'],
  ["times are quoted because other parsers read them as dates", { t: "2020-01-01T00:00:00Z", d: "2020-01-01" }, 'd: "2020-01-01"\nt: "2020-01-01T00:00:00Z"\n'],
  ["keys are quoted as well", { y: 1, "": 2, "a b": 3, "a: b": 4, "1": 5 }, '"": 2\n"1": 5\na b: 3\n\'a: b\': 4\n"y": 1\n'],
  ["indicators need quotes only where they mean something", { a: ["- x", "-x", "a #b", "a#b", "a:b", "a: b", "*x", "'", "%", "@a", "a,b", "[x", "?x", " x", "x "] }, "a:\n- '- x'\n- -x\n- 'a #b'\n- a#b\n- a:b\n- 'a: b'\n- '*x'\n- ''''\n- '%'\n- '@a'\n- a,b\n- '[x'\n- ?x\n- ' x'\n- 'x '\n"],
  ["multi-line text is a literal block", { a: "x\ny\n", b: "x\ny", c: "x\n\n", d: " x\ny\n", e: "\n" }, "a: |\n  x\n  y\nb: |-\n  x\n  y\nc: |+\n  x\n\nd: |2\n   x\n  y\ne: |2+\n\n"],
  ["text that a block cannot represent is quoted", { a: "x \ny", b: "x\ty", c: "a\u{1f600}", d: "x\n ", e: "\x00\x7f" }, 'a: "x \\ny"\nb: "x\\ty"\nc: "a\\U0001F600"\nd: "x\\n "\ne: "\\0\\x7F"\n'],
  ["characters of the basic plane are not escaped", { a: "héllo 日本" }, "a: héllo 日本\n"],
  ["numbers", { a: 1.5, b: -3, c: 9007199254740993n, d: 1e21, e: 1234567.5, f: 0.00001, g: 0.001, h: 100000 }, "a: 1.5\nb: -3\nc: 9007199254740993\nd: 1e+21\ne: 1.2345675e+06\nf: 1e-05\ng: 0.001\nh: 100000\n"],
  ["a literal block in a list", { a: ["x\ny\n", "z"] }, "a:\n- |\n  x\n  y\n- z\n"],
]; // prettier-ignore
for (const [name, value, text] of printed)
  test(`YAML prints ${name}`, () => assert.equal(printYaml(value), text));

test("keys are ordered by the first character that differs: letters last, runs of digits as numbers", () => {
  const ordered = [
    ["", "a"],
    ["a2", "a10", "aa"],
    ["a.b", "a_", "a1", "ab"],
    ["a1", "a01", "a2", "a002"],
    ["a10", "a100", "a101", "a1001"],
    ["9223372036854775808", "1"],
    ["a\u{1d7ce}", "a\u{1d7cf}"],
    ["a\u{1f600}", "a\u{1f601}", "aé"],
    ["a\uffe6", "a\u{1f600}", "a\u{1f600}b"],
  ];
  for (const keys of ordered) {
    assert.deepEqual(keys.toReversed().sort(compareNaturally), keys);
  }
});

test("keys are compared in place: splitting them takes many times longer than comparing", (t) => {
  const split = t.mock.method(Array, "from");
  for (const [left, right] of [
    ["key-1024", "key-1025"],
    ["key-9", "key-10"],
    ["a.b/c", "a.b/d"],
    ["a/1", "a/b"],
  ] as const)
    assert.ok(compareNaturally(left, right) < 0, left);
  assert.equal(split.mock.callCount(), 0);
});

test("long lines are folded at spaces, plain or quoted", () => {
  const words = Array.from({ length: 20 }, (_, i) => `word${i}`).join(" ");
  assert.equal(
    printYaml({ message: words }),
    "message: word0 word1 word2 word3 word4 word5 word6 word7 word8 word9 word10 word11\n  word12 word13 word14 word15 word16 word17 word18 word19\n",
  );
  const quoted = printYaml({ message: `it's: ${words}` });
  assert.match(quoted, /^message: 'it''s: .*\n {2}word.*'\n$/);
  assert.deepEqual(parseYaml(quoted).value, { message: `it's: ${words}` });
});

// Equivalent to fast-check's unit "binary", which first builds a table of all characters.
const firstSurrogate = 0xd800;
const surrogates = 0x800;
const character = fc.integer({ min: 0, max: 0x10ffff - surrogates }).map(
  (at) => String.fromCodePoint(at < firstSurrogate ? at : at + surrogates),
  (given) => {
    const code = typeof given === "string" ? given.codePointAt(0) : undefined;
    if (code === undefined || String.fromCodePoint(code) !== given) throw new Error("not one character");
    return code < firstSurrogate ? code : code - surrogates;
  },
);

test("printed values are parsed back unchanged", () => {
  const text = fc.oneof(
    fc.string({ unit: character, maxLength: 30 }),
    fc.constantFrom("yes", "0777", "a: b", "x\ny ", " \n", "\n\n", "- a", "...", "---", "a\n b\n", "\ta"),
    fc.lorem({ maxCount: 30 }),
  );
  const leaf = fc.oneof(
    text,
    fc.boolean(),
    fc.constant(null),
    fc.integer(),
    fc
      .double({ noNaN: true, noDefaultInfinity: true })
      .map((value) =>
        Object.is(value, -0) || (Number.isInteger(value) && !Number.isSafeInteger(value)) ? 0 : value,
      ),
  );
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { depthSize: "small" },
      leaf,
      fc.array(tie("tree"), { maxLength: 4 }),
      fc.dictionary(text, tie("tree"), { maxKeys: 4, noNullPrototype: true }),
    ),
  }));
  fc.assert(
    fc.property(tree, (value) => {
      const yaml = printYaml(value);
      assert.deepEqual(parseYaml(yaml), { value, duplicate: [] }, yaml);
    }),
    { numRuns: 200 },
  );
});

const { kind, message } = apiPackage({ package: "api.test.v1" });
const Meta = message("Meta", "", {
  name: optional(1, string, ""),
  made: embedded(2, time, ""),
  labels: optional(3, map(string), ""),
});
const Thing = kind("Thing", "", {
  metadata: embedded(1, Meta, ""),
  count: required(2, int32, ""),
  limits: optional(3, map(quantity), ""),
  args: optional(4, list(string), ""),
});

test("objects are decoded from YAML with the same checks as from JSON, and printed from canonical form", () => {
  const text =
    "kind: Thing\napiVersion: v1\ncount: 3.0\nlimits: {cpu: 1.5, memory: 1Gi}\nwhat: 1\nmetadata:\n  name: a\n  name: b\never: 1\n";
  const { value, unknown, duplicate, strict } = decodeYaml(Thing, text);
  assert.deepEqual(value, {
    kind: "Thing",
    apiVersion: "v1",
    metadata: { name: "b", made: null },
    count: 3,
    limits: { cpu: "1500m", memory: "1Gi" },
  });
  assert.deepEqual([unknown, duplicate], [["what", "ever"], ['line 8: key "name" already set in map']]);
  assert.deepEqual(strict, [
    'line 8: key "name" already set in map',
    'unknown field "ever"',
    'unknown field "what"',
  ]);
  assert.equal(
    encodeYaml(Thing, value),
    "apiVersion: v1\ncount: 3\nkind: Thing\nlimits:\n  cpu: 1500m\n  memory: 1Gi\nmetadata:\n  made: null\n  name: b\n",
  );
  assert.throws(() => decodeYaml(Thing, "args: [yes]"), { name: "DecodeError", path: "args[0]" });
});

test("JSON is parsed alike as JSON and as YAML", () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 })),
      fc.constantFrom(undefined, 2, "\t"),
      (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        assert.deepEqual(parseYaml(text), parseYamlDocuments(text)[0]);
      },
    ),
    { numRuns: 400 },
  );
  for (const text of [
    '{"a":9223372036854776000}',
    '{"a":1.0,"b":1e3,"c":9007199254740993,"d":-0,"e":18446744073709551616}',
    '{"a":1,"a":2}',
    '{"<<":{"a":1}}',
    '{"a":"\\u00e9\\/\\t"}',
    "{a: b}",
    '{"a":1}\n---\n{"b":2}',
    '{"a":1} # end',
    '{ "a" : [ ] }\n',
  ]) {
    assert.deepEqual(parseYaml(text), parseYamlDocuments(text)[0], text);
  }
});
