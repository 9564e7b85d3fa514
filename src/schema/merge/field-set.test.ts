import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  type FieldSet,
  difference,
  fieldSetOfPaths,
  hasPath,
  intersection,
  isEmptySet,
  parseFieldSet,
  pathsOf,
  recursiveDifference,
  sameSets,
  union,
  unionOf,
} from "./field-set.ts";
import type { Json } from "./json-value.ts";
import {
  type FieldPath,
  compareElements,
  compareText,
  elementText,
  fieldElement as f,
  indexElement,
  keyElement,
  parseElement,
  pathText,
  valueElement,
} from "./path-element.ts";

const set = (...paths: FieldPath[]): FieldSet => fieldSetOfPaths(paths);
const text = (fields: FieldSet): string => JSON.stringify(fields);

const written: [name: string, fields: FieldSet, json: string][] = [
  ["the empty set is an empty object", set(), "{}"],
  ["a path is nested", set([f("a"), f("b")]), '{"f:a":{"f:b":{}}}'],
  ["a parent that is in the set is marked", set([f("a"), f("b")], [f("a")]), '{"f:a":{".":{},"f:b":{}}}'],
  [
    "fields are sorted by their bytes",
    set([f("b")], [f("a")], [f("B")], [f("\u{1f600}")], [f("\uff5e")]),
    '{"f:B":{},"f:a":{},"f:b":{},"f:～":{},"f:😀":{}}',
  ],
  [
    "list keys are sorted by name",
    set([keyElement(["containerPort", "protocol"], [80, "TCP"])]),
    '{"k:{\\"containerPort\\":80,\\"protocol\\":\\"TCP\\"}":{}}',
  ],
  [
    "list keys with numbers sort by number",
    set([keyElement(["p"], [443])], [keyElement(["p"], [80])]),
    '{"k:{\\"p\\":80}":{},"k:{\\"p\\":443}":{}}',
  ],
  [
    "values sort numbers before text before booleans",
    set([valueElement(true)], [valueElement("1")], [valueElement(10)], [valueElement(9)]),
    '{"v:9":{},"v:10":{},"v:\\"1\\"":{},"v:true":{}}',
  ],
  [
    "fields come before keys, values and positions",
    set([indexElement(0)], [valueElement("a")], [keyElement(["a"], ["b"])], [f("z")]),
    '{"f:z":{},"k:{\\"a\\":\\"b\\"}":{},"v:\\"a\\"":{},"i:0":{}}',
  ],
  ["positions sort as numbers", set([indexElement(10)], [indexElement(9)]), '{"i:9":{},"i:10":{}}'],
  [
    "values escape characters that are special in HTML",
    set([valueElement("<a&b>")]),
    '{"v:\\"\\\\u003ca\\\\u0026b\\\\u003e\\"":{}}',
  ],
];
for (const [name, fields, json] of written) {
  test(name, () => {
    assert.equal(text(fields), json);
    assert.equal(text(parseFieldSet(JSON.parse(json) as Json)), json);
  });
}

const parsed: [name: string, json: string, canonical: string][] = [
  [
    "members are sorted",
    '{"f:b":{},"f:a":{"f:y":{},".":{},"f:x":{}}}',
    '{"f:a":{".":{},"f:x":{},"f:y":{}},"f:b":{}}',
  ],
  [
    "list keys in another order are the same keys",
    '{"k:{\\"b\\":1,\\"a\\":\\"x\\"}":{}}',
    '{"k:{\\"a\\":\\"x\\",\\"b\\":1}":{}}',
  ],
  ["spaces in keys are removed", '{"k:{ \\"a\\" : 1 }":{}}', '{"k:{\\"a\\":1}":{}}'],
  ["elements of an unknown type are dropped", '{"f:a":{},"z:b":{"f:c":{}}}', '{"f:a":{}}'],
  ["a node with only unknown elements is in the set", '{"f:a":{"z:b":{}}}', '{"f:a":{}}'],
  ["a lone mark is a leaf", '{"f:a":{".":{}}}', '{"f:a":{}}'],
  ["a mark at the root means nothing", '{".":{},"f:a":{}}', '{"f:a":{}}'],
  ["integers beyond 2^53 keep their digits", '{"v:9007199254740993":{}}', '{"v:9007199254740993":{}}'],
];
for (const [name, json, canonical] of parsed)
  test(name, () => assert.equal(text(parseFieldSet(JSON.parse(json) as Json)), canonical));

for (const bad of [
  '{"a":{}}',
  '{"f":{}}',
  '{"fa":{}}',
  '{"k:[1]":{}}',
  '{"k:{":{}}',
  '{"v:":{}}',
  '{"i:x":{}}',
  '{"f:a":1}',
  "[]",
  '"x"',
]) {
  test(`${bad} is not a field set`, () =>
    assert.throws(() => parseFieldSet(JSON.parse(bad) as Json), SyntaxError));
}

const algebra: [name: string, actual: FieldSet, expected: FieldSet][] = [
  [
    "subtracting a parent keeps its children",
    difference(set([f("a")], [f("a"), f("b")]), set([f("a")])),
    set([f("a"), f("b")]),
  ],
  [
    "subtracting a child keeps its parent",
    difference(set([f("a")], [f("a"), f("b")]), set([f("a"), f("b")])),
    set([f("a")]),
  ],
  [
    "subtracting recursively removes the children, too",
    recursiveDifference(set([f("a")], [f("a"), f("b")], [f("c")]), set([f("a")])),
    set([f("c")]),
  ],
  [
    "subtracting recursively at a child keeps the rest",
    recursiveDifference(set([f("a"), f("b"), f("x")], [f("a"), f("c")]), set([f("a"), f("b")])),
    set([f("a"), f("c")]),
  ],
  [
    "a parent and its child have nothing in common",
    intersection(set([f("a")]), set([f("a"), f("b")])),
    set(),
  ],
  ["a union keeps both marks", union(set([f("a")]), set([f("a"), f("b")])), set([f("a")], [f("a"), f("b")])],
];
for (const [name, actual, expected] of algebra) test(name, () => assert.equal(text(actual), text(expected)));

test("elements and paths are formatted as in messages", () => {
  assert.equal(
    pathText([f("spec"), f("containers"), keyElement(["name"], ["web"]), f("image")]),
    '.spec.containers[name="web"].image',
  );
  assert.equal(
    elementText(keyElement(["containerPort", "protocol"], [80, "TCP"])),
    '[containerPort=80,protocol="TCP"]',
  );
  assert.equal(elementText(valueElement("x")), '[="x"]');
  assert.equal(elementText(indexElement(3)), "[3]");
});

test("paths of a level precede those below it", () => {
  assert.deepEqual(pathsOf(set([f("a"), f("x")], [f("b")], [f("a")])).map(pathText), [".a", ".b", ".a.x"]);
});

const scalar = fc.oneof(
  fc.constantFrom<Json>("a", "b", "<", "\u2028", true, false),
  fc.integer({ min: -3, max: 30 }),
  fc.string(),
);
const element = fc.oneof(
  fc.constantFrom("a", "b", "c", "spec").map(f),
  fc.string().map(f),
  scalar.map(valueElement),
  fc.nat(20).map(indexElement),
  fc
    .record({ name: scalar, port: scalar })
    .map(({ name, port }) => keyElement(["name", "port"], [name, port])),
);
const paths = fc.array(fc.array(element, { minLength: 1, maxLength: 3 }), { maxLength: 8 });

test("an encoded set is parsed back to the same set, whatever the order of its keys", () => {
  fc.assert(
    fc.property(paths, (list) => {
      const fields = fieldSetOfPaths(list);
      assert.equal(text(parseFieldSet(JSON.parse(text(fields)) as Json)), text(fields));
      assert.equal(text(parseFieldSet(reversed(JSON.parse(text(fields)) as Json))), text(fields));
      assert.equal(text(fieldSetOfPaths(list.toReversed())), text(fields));
    }),
  );
});

function reversed(node: Json): Json {
  return Object.fromEntries(
    Object.entries(node as Record<string, Json>)
      .toReversed()
      .map(([key, child]) => [key, reversed(child)]),
  );
}

test("set operations agree with sets of paths", () => {
  fc.assert(
    fc.property(paths, paths, (left, right) => {
      const [a, b] = [fieldSetOfPaths(left), fieldSetOfPaths(right)];
      const named = (fields: FieldSet): string[] =>
        pathsOf(fields)
          .map((path) => path.join("\n"))
          .sort();
      const [inA, inB] = [new Set(named(a)), new Set(named(b))];
      assert.deepEqual(named(union(a, b)), [...inA.union(inB)].sort());
      assert.deepEqual(named(intersection(a, b)), [...inA.intersection(inB)].sort());
      assert.deepEqual(named(difference(a, b)), [...inA.difference(inB)].sort());
      assert.deepEqual(
        named(recursiveDifference(a, b)),
        [...inA]
          .filter(
            (path) => !right.some((cut) => path === cut.join("\n") || path.startsWith(`${cut.join("\n")}\n`)),
          )
          .sort(),
      );
      assert.equal(text(union(a, b)), text(union(b, a)));
      assert.equal(text(unionOf([a, b, a, b, a])), text(union(a, b)));
      assert.equal(isEmptySet(difference(a, a)), true);
      assert.ok(sameSets(union(difference(a, b), intersection(a, b)), a));
      for (const path of left) assert.ok(hasPath(a, path));
    }),
  );
});

test("operations without effect return their operand", () => {
  const a = set([f("a")], [f("a"), f("b")], [f("c")]);
  assert.equal(union(a, set([f("a"), f("b")])), a);
  assert.equal(difference(a, set([f("x")])), a);
  assert.equal(recursiveDifference(a, set([f("a"), f("z")])), a);
});

test("strings are compared by their bytes", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.string({ unit: "grapheme" }), (a, b) => {
      assert.equal(Math.sign(compareText(a, b)), Math.sign(Buffer.compare(Buffer.from(a), Buffer.from(b))));
    }),
  );
});

test("the order of elements is total", () => {
  fc.assert(
    fc.property(element, element, element, (a, b, c) => {
      assert.equal(Math.sign(compareElements(a, b)), -Math.sign(compareElements(b, a)) + 0);
      if (compareElements(a, b) <= 0 && compareElements(b, c) <= 0) assert.ok(compareElements(a, c) <= 0);
      assert.equal(parseElement(a), a);
    }),
  );
});
