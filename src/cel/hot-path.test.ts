// The hot path and the plan must agree: in value, cost, errors, and where they stop.
import assert from "node:assert/strict";
import { test } from "node:test";
import { finishSteps } from "#base";
import { check } from "./checker.ts";
import { hotPath } from "./hot-path.ts";
import { type Value, compile, environment, types } from "./index.ts";
import { typeNames } from "./library/standard.ts";
import { parseSteps } from "./parser.ts";
import { plan } from "./plan.ts";

const env = environment();
const variables = { object: types.dyn, n: types.int, params: types.dyn };

const expressions = [
  "object.spec.replicas <= 5",
  "object.spec.replicas < n || n >= 3 || object.spec.replicas > n",
  "object.metadata.name == 'web' && object.metadata.namespace != 'system'",
  "object.metadata.name != '' && 'a text that is longer' != object.metadata.name",
  "object.metadata.name == 'a text of more than ten letters'",
  "has(object.metadata.labels) && 'app' in object.metadata.labels",
  "'x' in object.list || 2 in object.list || object.spec.replicas in object.list",
  "object.list.all(c, c >= 1) && object.list.exists(c, c == 2) && object.list.exists_one(c, c == 3)",
  "object.list.map(c, c + 1) == [2, 3, 4] || object.list.filter(c, c > 1).size() == 2",
  "object.list.map(c, c > 1, 'x')",
  "object.metadata.labels.all(k, object.metadata.labels[k].startsWith('w'))",
  "object.metadata.labels.tier in ['front', 'back'] || object.spec.replicas in [1, 3]",
  "object.spec.replicas in []",
  "object.metadata.name.endsWith('b') && object.metadata.name.contains('e') && object.metadata.name.matches('w.b')",
  "object.metadata.name.size() == 3 && size(object.list) > 1",
  "object.spec.replicas > 1 ? object.metadata.name : object.metadata.namespace",
  "(object.spec.replicas > 1 ? object.metadata : object.spec).name",
  "object.list[0] == 1 && object['spec']['replicas'] == 3 && object.list[n] == 3",
  "!has(object.spec.absent) && !(object.spec.replicas == 4)",
  "object.spec.ratio > 1 || object.spec.replicas == 1.5",
  "[object.spec.replicas, n, 7]",
  "[1, 2, 3].exists(i, i == n) && {'a': 1}['a'] == 1",
  "(10.0 + 20.0) * 5.0 - 100.0 / 4.0",
  "1 + 2 == 3 && n + 1 - 1 == n",
  "params == null || params.limit > object.spec.replicas",
  "object.spec.replicas.startsWith('x') || object.metadata.constructor == 'x'",
  "object == object && object.list == [1, 2, 3]",
  "object.spec.big == 9007199254740993 || object.spec.big > 3",
  "int(object.spec.text) == 12 && string(object.spec.replicas) == '3' && int('5') == 5",
  "object.list.all(a, object.list.all(b, object.list.exists(c, a + b + c > 3)))",
  "object.spec.zero == 0 ? object.spec.zero : 1 / object.spec.zero",
];

const whole = {
  metadata: { name: "web", namespace: "default", labels: { app: "web", tier: "weak" } },
  spec: { replicas: 3, ratio: 1.5, big: 2 ** 53, text: "12", zero: 0 },
  list: [1, 2, 3],
};
const data: Readonly<Record<string, Record<string, unknown>>> = {
  "whole data": { object: whole, n: 2, params: { limit: 9 } },
  "other types": {
    object: { metadata: { name: 3, namespace: null, labels: [] }, spec: { replicas: "3" }, list: { a: 1 } },
    n: 2,
    params: null,
  },
  "missing members": { object: { metadata: {}, spec: {} }, n: 2, params: {} },
  "other numbers": {
    object: { ...whole, spec: { ...whole.spec, replicas: 2.5, zero: -0 }, list: [1.5, 2 ** 40, -1] },
    n: 2 ** 40,
    params: null,
  },
  "missing variables": { n: 0 },
  "long texts": {
    object: {
      ...whole,
      metadata: { ...whole.metadata, name: "😀".repeat(8), labels: { app: "w".repeat(40) } },
    },
    n: 0,
    params: null,
  },
};

for (const [name, given] of Object.entries(data))
  for (const limit of [1_000_000, 10, 3])
    test(`${name}: hot and cold runs have the same outcome within a limit of ${limit}`, () => {
      for (const source of expressions) {
        const compiled = compile(env, source, { variables, libraryCosts: true });
        assert.ok("program" in compiled, "error" in compiled ? compiled.error : "");
        const { program } = compiled;
        const bindings = given as Record<string, Value>;
        const cold = program.evaluate(bindings, limit);
        const usual = data["whole data"] as Record<string, Value>;
        for (let run = 0; run < 210; run += 1) program.evaluate(usual, 1_000_000);
        const hot = program.evaluate(bindings, limit);
        // By how much a stopped run exceeded the limit is irrelevant.
        assert.deepEqual(hot, cold, source);
      }
    });

const paths: [name: string, source: string, hot: boolean][] = [
  ["paths, comparisons and macros have a hot path", expressions[10]!, true],
  ["function calls have a hot path", expressions[13]!, true],
  ["type names have no hot path", "type(n) == int", false],
  [
    "expressions with very many nodes have no hot path",
    Array.from({ length: 300 }, () => "n > 1").join(" || "),
    false,
  ],
];
for (const [name, source, hot] of paths)
  test(name, () => {
    const parsed = finishSteps(parseSteps(source, { optionals: false, twoVariables: false }));
    assert.ok(!parsed.errors);
    const scope = { functions: env.functions, variables: new Map(Object.entries(variables)), typeNames };
    const checked = finishSteps(check(parsed.expression, scope));
    const { inputs } = plan(parsed.expression, checked, { libraryCosts: true });
    assert.equal(hotPath(parsed.expression, checked, inputs, { libraryCosts: true }) !== undefined, hot);
  });
