// Estimated and actual costs as counted by the reference. The numbers are facts about the reference.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type SchemaLike, compile, environment, sizesOf, typeOfSchema, viewOf } from "./index.ts";

const env = environment();

function programFor(schema: SchemaLike, source: string, within = env) {
  const root = typeOfSchema(schema, "root", false)!;
  const compiled = compile(within, source, {
    variables: { self: root.type, oldSelf: root.type },
    libraryCosts: true,
  });
  assert.ok("program" in compiled, "error" in compiled ? compiled.error : "");
  return { program: compiled.program, root };
}

const integer = { type: "integer" };
const number = { type: "number" };
const string = { type: "string" };
const boolean = { type: "boolean" };
const format = (name: string) => ({ type: "string", format: name });
const list = (items: SchemaLike, more: object = {}): SchemaLike => ({ type: "array", items, ...more });
const map = (values: SchemaLike): SchemaLike => ({ type: "object", additionalProperties: values });
const object = (properties: Record<string, SchemaLike>): SchemaLike => ({ type: "object", properties });

interface Run {
  readonly schema: SchemaLike;
  readonly data: unknown;
  readonly costs: Readonly<Record<string, number>>;
}

/** Fields val1, val2 and so on, with their types. */
const fields = (...pairs: [data: unknown, schema: SchemaLike][]) => ({
  schema: object(Object.fromEntries(pairs.map(([, schema], at) => [`val${at + 1}`, schema]))),
  data: Object.fromEntries(pairs.map(([data], at) => [`val${at + 1}`, data])),
});

const runs: Run[] = [
  {
    ...fields([5, integer], [10, number], [7, integer]),
    costs: {
      "self.val1 == 5 && self.val3 == 7": 6,
      "self.val1 == self.val1": 5,
      "type(self.val1) == int": 4,
      "self.val1 + 1 == 5 + 1": 5,
      "double(self.val1) < self.val2": 6,
      "double(5) < 10.0": 1,
      "double(self.val1) < 10.0": 4,
    },
  },
  {
    ...fields(["Rook takes \u{1f451}", string]),
    costs: {
      "self.val1.startsWith('Rook')": 4,
      "!self.val1.startsWith('knight')": 5,
      "self.val1.matches('^[^0-9]*$')": 8,
      "!self.val1.matches('^[0-9]*$')": 7,
      "size(self.val1) == 12": 4,
      "self.val1.charAt(3) == 'k'": 4,
      "self.val1.replace(' ', 'x') == 'Rookxtakesx\u{1f451}'": 7,
      "self.val1.split(' ') == ['Rook', 'takes', '\u{1f451}']": 6,
      "self.val1.substring(5) == 'takes \u{1f451}'": 5,
      "self.val1.substring(4, 10).trim() == 'takes'": 6,
      "self.val1.lowerAscii() == self.val1.lowerAscii()": 10,
    },
  },
  {
    ...fields(["QUI=", format("byte")], ["1h2m3s4ms", format("duration")], ["1997-07-16", format("date")]),
    costs: {
      "self.val1 == b'AB'": 3,
      "size(self.val1) == 2": 4,
      "self.val2 == duration('1h2m') + duration('3s4ms')": 4,
      "self.val2.getHours() == 1": 4,
      "self.val3.getDate() == 16": 4,
      "type(self.val3) == google.protobuf.Timestamp": 4,
    },
  },
  {
    ...fields(["Pending", string]),
    costs: { "self.val1 == 'Pending'": 3, "self.val1 in ['Pending', 'Available']": 2 },
  },
  {
    ...fields([[1, 2, 3], list(integer)], [[1, 2, 3], list(integer)]),
    costs: {
      "1 in self.val1": 5,
      "self.val2[0] in self.val1": 8,
      "!(0 in self.val1)": 6,
      "self.val1 + self.val2 == [1, 2, 3, 1, 2, 3]": 6,
      "self.val1 + [4, 5] == [1, 2, 3, 4, 5]": 4,
    },
  },
  {
    schema: object({
      objs: list(list(object({ k: string, v: string }), { listType: "map", listMapKeys: ["k"] })),
    }),
    data: {
      objs: [
        [
          { k: "a", v: "1" },
          { k: "b", v: "2" },
        ],
        [
          { k: "b", v: "2" },
          { k: "a", v: "1" },
        ],
        [
          { k: "b", v: "3" },
          { k: "a", v: "1" },
        ],
        [{ k: "c", v: "4" }],
      ],
    },
    costs: {
      "self.objs[0] == self.objs[1]": 7,
      "self.objs[0] + self.objs[2] == self.objs[2]": 11,
      "self.objs[0] == [self.objs[0][0], self.objs[0][1]]": 22,
      "self.objs[0] == [self.objs[0][1], self.objs[0][0]]": 22,
      "self.objs[2] + [self.objs[0][0], self.objs[0][1]] == self.objs[0]": 26,
      "size(self.objs[0] + [self.objs[3][0]]) == 3": 20,
    },
  },
  {
    ...fields([{ k1: "a", k2: "b" }, map(string)], [{ k2: "b", k1: "a" }, map(string)]),
    costs: {
      "self.val1 == self.val2": 5,
      "'k1' in self.val1": 3,
      "!('k3' in self.val1)": 4,
      "self.val1 == {'k1': 'a', 'k2': 'b'}": 3,
    },
  },
  {
    schema: object({
      a: object({ b: integer }),
      a1: object({ b1: object({ c1: integer }), d2: object({ e2: integer }) }),
    }),
    data: { a: { b: 1 }, a1: { b1: { c1: 4 } } },
    costs: {
      "has(self.a.b)": 2,
      "has(self.a1.b1.c1)": 3,
      "!(has(self.a1.d2) && has(self.a1.d2.e2))": 3,
      "!has(self.a1.d2)": 3,
    },
  },
  {
    schema: object({ val: map(integer) }),
    data: { val: { b: 1, d: 2 } },
    costs: {
      "!has(self.val.a)": 3,
      "has(self.val.b)": 2,
      "self.val.all(k, self.val[k] > 0)": 17,
      "self.val.exists_one(k, self.val[k] == 2)": 14,
      "!self.val.exists_one(k, self.val[k] > 0)": 17,
      "size(self.val.filter(k, self.val[k] > 1)) == 1": 26,
    },
  },
  {
    schema: object({
      listMap: list(object({ k: string, v: string, v2: string }), { listType: "map", listMapKeys: ["k"] }),
    }),
    data: {
      listMap: [
        { k: "a1", v: "b1" },
        { k: "a2", v: "b2" },
        { k: "a3", v: "b3", v2: "z" },
      ],
    },
    costs: {
      "has(self.listMap[0].v)": 3,
      "self.listMap.all(m, m.k.startsWith('a'))": 21,
      "self.listMap.all(m, !has(m.v2) || m.v2 == 'z')": 21,
      "self.listMap.exists(m, m.k.endsWith('1'))": 13,
      "self.listMap.exists_one(m, m.k == 'a3')": 15,
      "!self.listMap.all(m, m.k.endsWith('1'))": 18,
      "!self.listMap.exists(m, m.v == 'x')": 25,
      "!self.listMap.exists_one(m, m.k.startsWith('a'))": 20,
      "size(self.listMap.filter(m, m.k == 'a1')) == 1": 27,
      "self.listMap.exists(m, m.k == 'a1' && m.v == 'b1')": 16,
      "self.listMap.map(m, m.v).exists(v, v == 'b1')": 55,
      "self.listMap.exists(m, has(m.v2) && m.v2 == 'z')": 21,
      "!self.listMap.all(m, has(m.v2) && m.v2 != 'z')": 10,
      "self.listMap.exists_one(m, has(m.v2) && m.v2 == 'z')": 12,
      "self.listMap.filter(m, has(m.v2) && m.v2 == 'z').size() == 1": 24,
      "self.listMap.map(m, has(m.v2) && m.v2 == 'z', m.v2).size() == 1": 25,
      "self.listMap.filter(m, has(m.v2) && m.v2 == 'z').map(m, m.v2).size() == 1": 39,
      "self.listMap.exists(m, m.v2 == 'z')": 24,
      "!self.listMap.all(m, m.v2 != 'z')": 22,
    },
  },
];

for (const { schema, data, costs } of runs) {
  for (const [source, cost] of Object.entries(costs)) {
    test(`${source} costs ${cost}`, () => {
      const { program, root } = programFor(schema, source);
      const outcome = program.evaluate({ self: viewOf(data, root.schema) }, 1_000_000);
      assert.deepEqual(outcome, { value: true, cost });
    });
  }
}

const estimates: [schema: SchemaLike, source: string, cost: number][] = [
  [list(number), "self.all(x, true)", 4718591],
  [list(number, { maxItems: 10 }), "self.all(x, true)", 32],
  [list(string), "self.all(x, true)", 3145727],
  [list(string, { maxItems: 20 }), "self.all(x, true)", 62],
  [list(boolean), "self.all(x, true)", 1887437],
  [list(list(number)), "self.all(x, true)", 3145727],
  [map(number), "self.all(x, true)", 1348169],
  [map(string), "self.all(x, true)", 1179647],
  [map(boolean), "has(self.x)", 0],
  [string, "self.contains('test')", 314574],
  [string, "self.startsWith('test')", 2],
  [string, 'size(self + "hello") > size("hello")', 314578],
  [list(number), "self[1] == 0.0", 2],
  [list(string), "self[1] == self[1]", 314577],
  [list(number, { maxItems: 10 }), "self.all(x, self.all(y, true))", 352],
  [list(number, { maxItems: 10 }), "self.all(x, self.all(y, self.all(z, true)))", 3552],
  [string, 'self.matches("x")', 314574],
  [string, '"".matches("(((((((((())))))))))[0-9]")', 7],
  [string, 'self.matches("")', 1],
  [string, 'self == "x"', 2],
  [{ type: "string", maxLength: 0 }, 'self == "x"', 1],
  [format("byte"), 'self == b"x"', 2],
  [list(number), "self.all(x, x == 0.0)", 6291454],
  [{ type: "string", maxLength: 10 }, "type(self) == google.protobuf.Timestamp", 7],
];
for (const [schema, source, cost] of estimates) {
  test(`${source} over ${JSON.stringify(schema)} is estimated at ${cost}`, () => {
    const { program, root } = programFor(schema, source);
    assert.equal(program.estimateCost(sizesOf(root)).max, cost);
  });
}

const names = { type: "string", enumBytes: 20 };
const later: [source: string, schema: SchemaLike, before: number, after: number][] = [
  ["self.all(x, self.exists_one(y, x == y))", list(names, { maxItems: 9 }), 25_480_793, 542],
  [
    "self.map(x, x.map(y, y.size()).sum()).sum() < 9",
    list(list(string, { maxItems: 2 }), { maxItems: 3 }),
    18_446_744_073_709_552_000,
    178,
  ],
];
for (const [source, schema, before, after] of later)
  test(`${source} is estimated lower in later releases`, () => {
    const first = programFor(schema, source, environment({ release: 28 }));
    assert.equal(first.program.estimateCost(sizesOf(first.root)).max, before);
    const last = programFor(schema, source, environment({ release: 30 }));
    assert.equal(last.program.estimateCost(sizesOf(last.root, { enums: true })).max, after);
  });
