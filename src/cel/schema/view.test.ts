import assert from "node:assert/strict";
import { test } from "node:test";
import { type SchemaLike, compile, environment, escapeName, typeOfSchema, viewOf } from "../index.ts";

const env = environment();

function evaluate(schema: SchemaLike, data: unknown, source: string): unknown {
  const root = typeOfSchema(schema, "root", true)!;
  const compiled = compile(env, source, { variables: { self: root.type } });
  if ("error" in compiled) return compiled.error;
  const outcome = compiled.program.evaluate({ self: viewOf(data, root.schema) }, 1_000_000);
  return "value" in outcome ? outcome.value : outcome.error;
}

const names: [name: string, identifier: string | undefined][] = [
  ["plain", "plain"],
  ["namespace", "__namespace__"],
  ["a-b.c/d", "a__dash__b__dot__c__slash__d"],
  ["a__b", "a__underscores__b"],
  ["1a", undefined],
  ["a b", undefined],
];
for (const [name, identifier] of names)
  test(`${name} is escaped as ${identifier ?? "nothing"}`, () => assert.equal(escapeName(name), identifier));

const schema: SchemaLike = {
  type: "object",
  properties: {
    namespace: { type: "string" },
    "a-b": { type: "integer" },
    size: { type: "number" },
    when: { type: "string", format: "date-time" },
    for: { type: "string", format: "duration" },
    port: { intOrString: true },
    none: { type: "string", nullable: true },
    set: { type: "array", items: { type: "string" }, listType: "set" },
    hidden: { preserveUnknownFields: true },
  },
};
const data = {
  namespace: "n",
  "a-b": 3,
  size: 2,
  when: "2020-01-02T03:04:05Z",
  for: "90s",
  port: "80%",
  none: null,
  set: ["a", "b"],
  metadata: { name: "x" },
};

const cases: [source: string, value: unknown][] = [
  ["self.__namespace__ == 'n' && self.a__dash__b == 3", true],
  ["self.size == 2.0", true],
  ["self.when.getDayOfMonth()", 1],
  ["self.__for__ > duration('1m')", true],
  ["type(self.port) == string", true],
  ["has(self.none)", false],
  ["self.set == ['b', 'a'] && size(self.set + ['a', 'c']) == 3", true],
  ["dyn(self.set) == 3", "no such overload"],
  ["dyn(self.set) == 'a'", "no such overload"],
  ["dyn(self.set) != 3 && dyn(self.set) != null && 3 != dyn(self.set)", true],
  ["self.set[7]", "index out of bounds: 7"],
  ["self.metadata.name", "x"],
  ["has(self.metadata.generateName)", false],
];
for (const [source, value] of cases)
  test(source, () => assert.deepEqual(evaluate(schema, data, source), value));

test("data without a type is not visible to expressions", () =>
  assert.match(String(evaluate(schema, data, "self.hidden == 1")), /undefined field 'hidden'/));

test("a field of an object without properties is undefined", () =>
  assert.match(String(evaluate({ type: "object" }, {}, "has(self.a)")), /undefined field 'a'/));
