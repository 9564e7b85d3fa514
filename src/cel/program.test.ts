import assert from "node:assert/strict";
import { test } from "node:test";
import { lastRelease } from "#base";
import { Double, type Value, compile, environment, listOf, mapOf, types } from "./index.ts";

const env = environment();
const variables = {
  x: types.int,
  words: listOf(types.string),
  numbers: listOf(types.int),
  labels: mapOf(types.string, types.string),
  data: types.dyn,
};
const bindings = {
  x: 5,
  words: ["a", "b", "c"],
  numbers: [3, 1, 2],
  labels: { app: "web", "a-b": "c" },
  data: { whole: 1, real: 1.5, list: [1, 2], text: "str", none: null, constructor: "own" },
};
/** Texts as large as a request may contain. */
const large = {
  blanks: `x${" ".repeat(200_000)}x`,
  digits: "9".repeat(1_500_000),
  url: `https://a/?${"a=b&".repeat(200_000)}`,
};

function evaluate(source: string): Value | { error: string } {
  const compiled = compile(env, source, { variables, libraryCosts: true });
  if ("error" in compiled) return { error: compiled.error };
  const known = /data\.(?:blanks|digits|url)/.test(source) ? { ...bindings, data: large } : bindings;
  const outcome = compiled.program.evaluate(known, 1_000_000);
  return "value" in outcome ? outcome.value : { error: outcome.error };
}

const cases: [source: string, value: Value][] = [
  ["1 + 2 * 3 == 7", true],
  ["-7 / 2 == -3 && -7 % 2 == -1", true],
  ["9223372036854775806 + 1", 9223372036854775807n],
  ["-9223372036854775808 < 0", true],
  ["1u + 2u == 3u", true],
  ["1.5 + 1.5", new Double(3)],
  ["0x10 == 16", true],
  ["'a' + \"b\" + r'\\n' == 'ab\\\\n'", true],
  ["b'abc' == bytes('abc')", true],
  ["'\\u00e9\\x41\\101'", "\u00e9AA"],
  ["size('\u{1f600}a')", 2],
  ["'\u{1f600}' > '\uffff'", true],
  ["!!true && !false", true],
  ["x > 3 ? 'big' : 'small'", "big"],
  ["words.all(w, w.size() == 1)", true],
  ["words.exists(w, w == 'b')", true],
  ["words.exists_one(w, w >= 'b')", false],
  ["words.map(w, w + '!')", ["a!", "b!", "c!"]],
  ["words.map(w, w != 'b', w + '!')", ["a!", "c!"]],
  ["words.filter(w, w != 'b').size()", 2],
  ["labels.all(k, labels[k] != '')", true],
  ["labels['a-b']", "c"],
  ["'app' in labels && !('x' in labels)", true],
  ["data.absent in [1, 5]", false],
  ["data.list[7] in [1.5, 2.5] || 1.5 in [1.5, 2.5]", true],
  ["[1, 2].map(v, .v + 1) == [2, 3]", true],
  ["'a-a'.replace('a', 'b', 9007199254740993) + 'a-a'.split('-', 9007199254740993)[1]", "b-ba"],
  ["'\\u2003 a \\u00a0b\\t\\ufeff \\u3000'.trim() == 'a \\u00a0b\\t\\ufeff' && ' \\n '.trim() == ''", true],
  ["int(dyn('-000000000000000000000000012')) == -12 && uint(dyn('0000000000000000000000')) == 0u", true],
  ["int(dyn('+9223372036854775807')) + int(dyn('-0')) == 9223372036854775807", true],
  ["'b' in words && x in [1, 5]", true],
  ["1 in [1.0, 2.0].map(v, dyn(v))", true],
  ["has(data.real) && !has(data.absent)", true],
  ["data.real > 1.0", true],
  ["data.real > 1 && data.whole < 1.5 && data.whole >= 1u", true],
  ["dyn(-1) < 0u && dyn(18446744073709551615u) > 1", true],
  ["dyn(9223372036854775807) < 9223372036854775808.0", false],
  ["data.whole == 1 && data.list[1] == 2", true],
  ["data.none == null", true],
  ["data.constructor", "own"],
  ["data.absent == 1 || true", true],
  ["false && data.absent", false],
  ["data.list.exists(v, data.absent == v || v == 2)", true],
  ["{'a': 1, 'b': 2}['b']", 2],
  ["type(x) == int && type(data.real) == double && type(words) == list", true],
  ["string(1.0e20) + string(0.5) + string(100u)", "1e+200.5100"],
  ["int('-7') + int(2.9) + int(3u)", -2],
  ["duration('1h30m') == duration('90m')", true],
  ["string(duration('1.5s'))", "1.5s"],
  ["timestamp('2020-02-29T12:00:00Z') + duration('24h') == timestamp('2020-03-01T12:00:00Z')", true],
  ["timestamp('2020-02-29T12:00:00Z').getDayOfYear()", 59],
  ["timestamp('2020-01-01T00:30:00Z').getHours('-02:00')", 22],
  ["timestamp('2020-07-01T00:30:00Z').getHours('Europe/Paris')", 2],
  ["duration('90m').getHours()", 1],
  ["'hello'.charAt(1) + 'hello'.substring(1, 3)", "eel"],
  ["'a,b,c'.split(',', 2)", ["a", "b,c"]],
  ["'aaa'.replace('a', 'b', 2)", "bba"],
  ["'ab'.replace('', '-')", "-a-b-"],
  ["'hello'.lastIndexOf('l') + 'hello'.indexOf('l')", 5],
  ["' x '.trim() + 'aB'.upperAscii() + 'Ab'.lowerAscii()", "xABab"],
  ["['x', 'y'].join('-')", "x-y"],
  ["numbers.sum() + numbers.min() + numbers.max()", 10],
  ["numbers.isSorted() || [1, 2].isSorted()", true],
  ["[dyn(5), dyn('a'), dyn(3)].isSorted()", true],
  ["[dyn(5), dyn('a')].max() == 5", true],
  ["numbers.indexOf(1) + numbers.lastIndexOf(9)", 0],
  ["'abc 123 x4'.find('[0-9]+') + 'a1b22'.findAll('[0-9]+').join()", "123122"],
  ["url('https://user@example.com:80/p q?k=a&k=b').getHost()", "example.com:80"],
  ["url('https://[::1]:80/').getHostname() + url('https://h/x?k=a+b').getQuery()['k'][0]", "::1a b"],
  ["isURL('../x') || isURL('https://a:b:c/')", false],
];

for (const [source, value] of cases) {
  test(source, () => assert.deepEqual(evaluate(source), value));
}

const failures: [source: string, error: string | RegExp][] = [
  ["9223372036854775807 + 1", "integer overflow"],
  ["1u - 2u", "unsigned integer overflow"],
  ["x / 0", "division by zero"],
  ["x % 0", "modulus by zero"],
  ["data.absent", "no such key: absent"],
  ["data.list[7]", "index out of bounds: 7"],
  ["[1, 2][7]", "index '7' out of range in list size '2'"],
  ["data.list.filter(v, true)[x + 5]", /^index '\d+' out of range in list size '2'$/],
  ["[1, 0].exists_one(v, [3, 4][v + 5] == data.absent)", "index '5' out of range in list size '2'"],
  ["[1, 0].filter(v, v / 0 > [3][v + 5])", "division by zero"],
  ["[1, 0].map(v, [3][v + 5])", "index '6' out of range in list size '1'"],
  ["url('')", /URL parse error during conversion from string: parse "": empty url$/],
  ["data.toString", "no such key: toString"],
  ["data.text + data.whole", "no such overload"],
  ["data.text < 1", "no such overload"],
  ["data.absent == 1 && true", "no such key: absent"],
  ["[].map(v, v).min() == 1", /found no matching overload|called on empty list/],
  ["int(dyn('9223372036854775808'))", "type conversion error from 'string' to 'int'"],
  ["int(dyn('-'))", "type conversion error from 'string' to 'int'"],
  ["uint(dyn('18446744073709551616'))", "type conversion error from 'string' to 'uint'"],
  ["int(data.text)", "type conversion error from 'string' to 'int'"],
  ["y + 1", "ERROR: <input>:1:1: undeclared reference to 'y' (in container '')\n | y + 1\n | ^"],
  ["x + 'a'", /found no matching overload for '_\+_' applied to '\(int, string\)'\n \| x \+ 'a'\n \| \.\.\^/],
  ["words.foo()", /1:10: undeclared reference to 'foo' \(in container ''\)/],
  ["words.foo() == 1", /undeclared reference to 'foo'[^]*'_==_' applied to '\(<nil>, int\)'/],
  ["x.y", /type 'primitive:INT64' does not support field selection/],
  ["words.foo().y", /type '<nil>' does not support field selection/],
  [
    "x.all(i, true)",
    /expression of type 'int' cannot be range of a comprehension \(must be list, map, or dynamic\)/,
  ],
  ["[1, 'a']", /expected type 'int' but found 'string'/],
  ["1 +", /Syntax error: mismatched input '<EOF>' expecting/],
  ["x x", /Syntax error: extraneous input 'x' expecting <EOF>/],
  ["while + 1", /reserved identifier: while/],
  ["words.all(1, true)", /argument must be a simple name/],
  ["has(x)", /invalid argument to has\(\) macro/],
  ["9223372036854775808", /invalid int literal/],
  ["[y{}, 1] == 2", /1:3: undeclared reference to 'y'[^]*'_==_' applied to '\(list\(int\), int\)'/],
  ["y{} ? 1 : 2", /1:5: found no matching overload for '_\?_:_' applied to '\(<nil>, int, int\)'/],
  ["true ? y{} : z", /1:6: found no matching overload for '_\?_:_' applied to '\(bool, <nil>, !error!\)'/],
  ["{y{}: 1} + 1", /'_\+_' applied to '\(map\(_var0, _var1\), int\)'/],
  ["int{b: y}", /'int' is not a message type[^]*1:6: \[internal] unexpected failed resolution of ''[^]*'y'/],
  ["data{}", /1:5: 'dyn\(dyn:\{}\)' is not a type/],
  ["type == 1", /'_==_' applied to '\(type\(type\(\)\), int\)'/],
  ["duration == 1", /'_==_' applied to '\(duration, int\)'/],
  ["url('a').b", /\[internal] unexpected failed resolution of '[a-z]+\.URL'/],
  ["'a'.indexOf('b', 1) + []", /'_\+_' applied to '\(int, list\(_var1\)\)'/],
  ["data[null]", "invalid qualifier type: types.Null"],
  ["data[b'x']", "invalid qualifier type: types.Bytes"],
  ["data[int]", "invalid qualifier type: *types.TypeValue"],
  ["'a'.matches('(')", "error parsing regexp: missing closing ): `(`"],
  ["int('abc')", "type conversion error from 'string' to 'int'"],
];
for (const [source, error] of failures) {
  test(`${source} fails`, () => {
    const result = evaluate(source);
    assert.ok(result !== null && typeof result === "object" && "error" in result, JSON.stringify(result));
    if (typeof error === "string") assert.equal(result.error, error);
    else assert.match(String(result.error), error);
  });
}

test("evaluation stops at its cost limit, and no operator absorbs that error", () => {
  const compiled = compile(env, "numbers.all(n, n > 0) || true", { variables });
  assert.ok("program" in compiled);
  const outcome = compiled.program.evaluate(bindings, 5);
  assert.deepEqual(outcome, {
    error: "operation cancelled: actual cost limit exceeded",
    cost: 6,
    exceeded: true,
  });
});

const doubling: [name: string, source: string][] = [
  ["lists", `[[1, 2]]${".map(v, v + v)".repeat(40)}.size() == 1`],
  ["lists of unknown type", `[dyn([1, 2])]${".map(v, v + v)".repeat(40)}.size() == 1`],
  ["strings of unknown type", `[dyn('ab')]${".map(v, v + v)".repeat(40)}.size() == 1`],
  ["bytes of unknown type", `[dyn(b'ab')]${".map(v, v + v)".repeat(40)}.size() == 1`],
];
for (const [name, source] of doubling)
  test(`an expression that doubles ${name} stops at its cost limit`, () => {
    const compiled = compile(env, source, { variables });
    assert.ok("program" in compiled);
    const outcome = compiled.program.evaluate(bindings, 1_000_000);
    assert.ok("error" in outcome && outcome.exceeded, JSON.stringify(outcome));
    // Each run has the whole limit.
    const small = compile(env, "[numbers + numbers].map(v, v + v)[0].size()", { variables });
    assert.ok("program" in small);
    const { program } = small;
    for (let run = 0; run < 300; run += 1)
      assert.equal((program.evaluate(bindings, 100) as { value: number }).value, 12);
  });

const pairs = (leaf: string): string => `[${leaf}]${".map(x, [x, x])".repeat(40)}`;
const sharing: [name: string, source: string][] = [
  ["compared", `${pairs("x")} == ${pairs("x")}`],
  [
    "compared as maps",
    `[x]${".map(x, {'a': x, 'b': x})".repeat(40)} != [x]${".map(x, {'a': x, 'b': x})".repeat(40)}`,
  ],
  ["compared as lists of empty lists", `${pairs("[]")} == ${pairs("[]")}`],
  ["searched for", `${pairs("x")} in [${pairs("x")}]`],
  ["found by index", `[${pairs("x")}].indexOf(${pairs("x")}) == 0`],
  ["compared as a set", `sets.contains([${pairs("x")}], [${pairs("x")}])`],
  ["intersected as a set", `sets.intersects([${pairs("x")}], [${pairs("x")}])`],
  ["formatted", `'%s'.format([${pairs("x")}]) == ''`],
  ["formatted with maps", `'%s'.format([x]${".map(x, {'a': x, 'b': x})".repeat(40)}) == ''`],
];
for (const [name, source] of sharing)
  test(`a list of shared parts that is ${name} stops at the cost limit`, () => {
    const compiled = compile(environment({ release: lastRelease }), source, { variables });
    assert.ok("program" in compiled, JSON.stringify(compiled));
    const { program } = compiled;
    // The hot path is compiled after 200 runs.
    for (let run = 0; run < 202; run += 1) {
      const outcome = program.evaluate(bindings, 5_000);
      assert.ok("error" in outcome && outcome.exceeded, JSON.stringify(outcome));
    }
  });

test("a list of shared parts whose cost is measured stops at the cost limit", () => {
  const source = `${pairs("''")}.lastIndexOf([]) == 0`;
  const compiled = compile(env, source, { variables, libraryCosts: true });
  assert.ok("program" in compiled);
  const outcome = compiled.program.evaluate(bindings, 5_000);
  assert.ok("error" in outcome && outcome.exceeded, JSON.stringify(outcome));
});

test("each run may compare parts up to the whole limit", () => {
  const nested = "[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]";
  const source = `[x].all(x, [[[x, 2], [3, 4]], [[5, 6], [7, 8]]] == ${nested} || true)`;
  const compiled = compile(env, source, { variables });
  assert.ok("program" in compiled);
  for (let run = 0; run < 300; run += 1)
    assert.equal((compiled.program.evaluate(bindings, 100) as { value: boolean }).value, true);
});

const hostile: [name: string, source: string][] = [
  ["deep parentheses", "(".repeat(5000) + "1" + ")".repeat(5000)],
  ["a long chain of sums", Array.from({ length: 5000 }, () => "1").join("+")],
  ["a long list", `[${"1,".repeat(40_000)}1].size() > 0`],
  ["a long chain of ors", Array.from({ length: 9000 }, (_, at) => `x == ${at % 10}`).join(" || ")],
  [
    "nested loops",
    "[1,2,3,4,5,6,7,8,9].map(a, [1,2,3,4,5,6,7,8,9].map(b, [1,2,3].map(c, words.all(d, d != ''))))",
  ],
  ["a pattern that backtracks", `'${"a".repeat(5000)}'.matches('^(a+)+$|(a|aa)+b')`],
  ["a text of blanks that is trimmed", `data.blanks.trim() == ''`],
  ["a number of very many digits", `[1, 2, 3, 4, 5, 6, 7, 8].exists(v, int(data.digits) == v)`],
  [
    "an unsigned number of very many digits",
    `[1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u].exists(v, uint(data.digits) == v)`,
  ],
  ["a URL that repeats a parameter", "url(data.url).getQuery()['a'].size() == 200000"],
  ["an unclosed string", `'${"x".repeat(50_000)}`],
];
for (const [name, source] of hostile) {
  test(`${name}: the event loop is not blocked`, () => {
    evaluate("1 == 1");
    const start = process.threadCpuUsage();
    evaluate(source);
    const millis = process.threadCpuUsage(start).user / 1000;
    assert.ok(millis < 5000, `took ${millis} ms of processor time`);
  });
}
