import assert from "node:assert/strict";
import { test } from "node:test";
import { lastRelease } from "#base";
import { endSlices } from "#kit";
import { authorizerValues, compile, environment, listOf, mapOf, types, viewOf } from "./index.ts";

const { int, string } = types;
const variables = {
  text: string,
  emoji: string,
  numbers: listOf(int),
  many: listOf(int),
  map: mapOf(string, int),
  set: listOf(int),
  data: types.dyn,
  oldData: types.dyn,
};
const members = Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`k${i}`, i]));
const items = Array.from({ length: 1000 }, (_, i) => i);
const setOfInts = { type: "array", listType: "set", items: { type: "integer" } };
const preserved = { preserveUnknownFields: true };
const bindings = {
  text: "x".repeat(20_000),
  emoji: "\u{1f600}".repeat(10_000),
  numbers: Array.from({ length: 200 }, (_, i) => i),
  many: items,
  map: members,
  set: viewOf(items, setOfInts),
  data: viewOf({ ...members }, preserved),
  oldData: viewOf({ ...members }, preserved),
};

function run(source: string) {
  const compiled = compile(environment({ release: lastRelease }), source, { variables });
  assert.ok("program" in compiled, JSON.stringify(compiled));
  const { program } = compiled;
  return (limit: number) => program.evaluate(bindings, limit);
}

/** Each costs little in the reference, however long the values are. */
const cheap: readonly string[] = [
  "text.split('x').size() > i",
  "text.replace('y', 'z') != string(i)",
  "text.replace('x', 'z', 1) != string(i)",
  "text.replace('', 'z', 1) != string(i)",
  "text.lowerAscii() != string(i)",
  "text.upperAscii() != string(i)",
  "text.trim() != string(i)",
  "text.substring(i) != ''",
  "text.indexOf('y') == -1",
  "text.lastIndexOf('y') == -1",
  "emoji.charAt(i) != ''",
  "emoji.substring(i) != ''",
  "text.find('y') == ''",
  "text.find('x*y') == ''",
  "text.findAll('y+').size() == 0",
  "'x'.matches('x{500}' + string(i)) == false",
  "isURL(text) == false",
  "url('/?' + text).getQuery().size() == 1",
  "(int(text) == 0) || true",
  "(uint(text) == 0u) || true",
  "(double(text) == 0.0) || true",
  "(duration(text) == duration('1s')) || true",
  "(timestamp(text) == timestamp(0)) || true",
  "(ip(text) == ip('::1')) || true",
  "isCIDR(text + '/1') == false",
  "format.dns1123Label().validate(text).hasValue()",
  "'%s'.format([text]) != ''",
  "strings.quote(text) != ''",
  "timestamp(i).getHours('Europe/Berlin') >= 0",
  "many.isSorted()",
  "many.sum() > 0",
  "many.max() > i",
  "many.lastIndexOf(-1) == -1",
  "(set + set).size() > 0",
  "data == oldData",
  "(1 / 0 == 1) || true",
];
for (const source of cheap)
  test(`repeating ${source} stops at the limit`, () => {
    const limit = 3500;
    const outcome = run(`numbers.all(i, ${source})`)(limit);
    assert.ok("error" in outcome && outcome.exceeded && outcome.cost < limit, JSON.stringify(outcome));
    assert.equal(
      (run(`numbers.filter(i, i < 1).all(i, ${source})`)(100_000) as { value: boolean }).value,
      true,
    );
  });

/** Long values of the input are measured once. */
const repeatable: readonly string[] = [
  "text.size() > i",
  "emoji.size() > i",
  "text != 'another string'",
  "text > 'a'",
  "map.size() > i",
  "map.exists(k, true)",
];
for (const source of repeatable)
  test(`${source} can be repeated`, () => {
    const evaluate = run(`numbers.all(i, ${source})`);
    // The hot path is compiled after 200 runs.
    for (let count = 0; count < 202; count += 1)
      assert.equal((evaluate(8_000) as { value?: unknown }).value, true);
  });

test("strings that become too long are refused before they are built", () => {
  for (const source of [
    "text.replace('x', text).size() > 0",
    "text.replace('', text).size() > 0",
    "text.replace('x', text, 20000).size() > 0",
    "text.split('').join(text).size() > 0",
  ]) {
    const outcome = run(source)(1_000_000);
    assert.ok("error" in outcome && outcome.exceeded, JSON.stringify(outcome));
  }
});

test("an expression can make 50 authorization checks, and other work runs between them", async (t) => {
  const turns = endSlices(t);
  const env = environment();
  const { authorizer: type } = env.authorizer;
  const source = "numbers.all(n, authorizer.path('/' + string(n)).check('get').allowed())";
  const compiled = compile(env, source, { variables: { numbers: listOf(int), authorizer: type } });
  assert.ok("program" in compiled);
  const resource = { group: "", resource: "", subresource: "", namespace: "", name: "" };
  const decide = async () => ({ allowed: true, reason: "" });
  const evaluate = async (checks: number) => {
    const { authorizer } = authorizerValues(env.authorizer, decide, resource);
    const numbers = Array.from({ length: checks }, (_, i) => i);
    const { signal } = new AbortController();
    return await compiled.program.evaluateWaiting({ numbers, authorizer }, 1_000_000, signal);
  };
  assert.equal(((await evaluate(50)) as { value?: unknown }).value, true);
  assert.ok(turns() >= 40);
  const outcome = await evaluate(51);
  assert.ok("error" in outcome && outcome.exceeded);
});
