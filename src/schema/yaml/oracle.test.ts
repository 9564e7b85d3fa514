// Compares YAML parsing with js-yaml: values it writes in any style are read back, and texts are read alike,
// except for the words and numbers in which Go's parser differs deliberately.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { CORE_SCHEMA, dump, load } from "js-yaml";
import { parseYaml } from "./parse.ts";
import { resolvePlain } from "./resolve.ts";

/** js-yaml writes words and numbers unquoted that Go reads differently: they have a separate table below. */
const text = fc
  .oneof(
    fc.string({ unit: "grapheme", maxLength: 20 }),
    fc.constantFrom("a: b", "- a", "#x", "x #y", "'", '"', "\n", "a\nb\n", " a", "2020-01-01", "=", "%a"),
    fc.lorem({ maxCount: 30 }),
  )
  .filter((word) => typeof resolvePlain(word) === "string");
const leaf = fc.oneof(
  text,
  fc.boolean(),
  fc.constant(null),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e15, max: 1e15 }).map((value) => value + 0),
);
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { depthSize: "small", maxDepth: 4 },
    leaf,
    fc.array(tie("tree"), { maxLength: 4 }),
    fc.dictionary(text, tie("tree"), { maxKeys: 4, noNullPrototype: true }),
  ),
}));
const styles = fc.record({
  indent: fc.integer({ min: 1, max: 6 }),
  flowLevel: fc.integer({ min: -1, max: 3 }),
  lineWidth: fc.constantFrom(-1, 20, 80),
});

test("YAML written by js-yaml in any style is parsed to the original value", () => {
  fc.assert(
    fc.property(tree, styles, (value, style) => {
      const yaml = dump(value, { ...style, schema: CORE_SCHEMA });
      assert.deepEqual(parseYaml(yaml).value, value, yaml);
    }),
    { numRuns: 500 },
  );
});

const scalars = fc.constantFrom(
  "a", "b c", "x:y", "-1", "12", "1.5", "1e3", "true", "false", "null", "~", "'it''s'", '"a\\tb"', '"é\\n"', "a-b", "http://x/y", "[1, a]",
  "{a: 1, b: [x]}", "{}", "[]", '"x"', "''",
); // prettier-ignore
const lines = (depth: number): fc.Arbitrary<readonly string[]> =>
  depth === 0
    ? scalars.map((scalar) => [scalar])
    : fc.oneof(
        scalars.map((scalar) => [scalar]),
        fc.array(lines(depth - 1), { minLength: 1, maxLength: 3 }).map((items) => items.flatMap((item) => nest("-", item))),
        fc
          .uniqueArray(fc.tuple(fc.constantFrom("a", "b", '"c d"', "'e'", "f.g/h"), lines(depth - 1)), {
            minLength: 1,
            maxLength: 3,
            selector: ([key]) => key,
          })
          .map((pairs) => pairs.flatMap(([key, item]) => nest(`${key}:`, item))),
        fc.constantFrom(["|", "  x", "  y"], [">-", "  a", "  b", "", "  c"], ["|+", "  x", ""]),
      ); // prettier-ignore

/** Prefixes a value with a dash or a key: on the same line if it has only one, or is a block scalar. */
function nest(lead: string, [first = "", ...rest]: readonly string[]): string[] {
  const isBlock = /^[|>]/.test(first);
  if (isBlock) return [`${lead} ${first}`, ...rest.map((line) => `  ${line}`)];
  return rest.length === 0 && !/^- |^[^'"[{]*: |:$/.test(first)
    ? [`${lead} ${first}`]
    : [lead, ...[first, ...rest].map((line) => `  ${line}`)];
}

test("documents with block and flow collections and comments are parsed alike by js-yaml and this parser", () => {
  let read = 0;
  fc.assert(
    fc.property(lines(3), fc.constantFrom("", " # comment", "\n# comment"), (parts, comment) => {
      const yaml = `${parts.join("\n")}${/^[|>]/.test(parts[0]!) || parts.at(-1)!.startsWith(" ") ? "" : comment}\n`;
      let expected: unknown;
      try {
        expected = load(yaml, { schema: CORE_SCHEMA });
      } catch {
        return;
      }
      read++;
      assert.deepEqual(parseYaml(yaml).value, expected ?? null, yaml);
    }),
    { numRuns: 700 },
  );
  assert.ok(read > 350, `${read} documents were read`);
});

/** Where Go's parser, and therefore ours, differs from the core schema. */
const differences: [yaml: string, core: unknown, ours: unknown][] = [
  ["yes", "yes", true],
  ["Off", "Off", false],
  ["010", 10, 8],
  ["1_000", "1_000", 1000],
  ["0b11", "0b11", 3],
  ["2020-01-01", "2020-01-01", "2020-01-01"],
];
for (const [yaml, core, ours] of differences)
  test(`${yaml} is ${JSON.stringify(ours)}`, () => {
    assert.deepEqual(load(yaml, { schema: CORE_SCHEMA }), core);
    assert.deepEqual(parseYaml(yaml).value, ours);
  });
