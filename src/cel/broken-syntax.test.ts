import assert from "node:assert/strict";
import { test } from "node:test";
import { parse, parseSteps } from "./parser.ts";
import { formatErrors } from "./source.ts";

const first =
  "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

/** Returns the errors without the source lines that they show. */
function errorsOf(source: string): string[] {
  const { errors = [] } = parse(source, { optionals: false, twoVariables: false });
  return formatErrors(source, errors)
    .split("\n")
    .filter((line) => line.startsWith("ERROR: <input>:"))
    .map((line) => line.slice("ERROR: <input>:".length).replace("Syntax error: ", ""));
}

const cases: [source: string, ...errors: string[]][] = [
  ["self.", "1:6: missing IDENTIFIER at '<EOF>'"],
  ["self. == 1", "1:7: missing IDENTIFIER at '=='"],
  ["self..a", "1:6: extraneous input '.' expecting IDENTIFIER"],
  ["(self", "1:6: missing ')' at '<EOF>'"],
  ["self.a(", `1:8: mismatched input '<EOF>' expecting ${first.replace("'.'", "')', '.'")}`],
  ["f(,)", `1:3: extraneous input ',' expecting ${first.replace("'.'", "')', '.'")}`],
  ["x.y(1,,2)", "1:6: mismatched input ',' expecting ')'"],
  ["[1,", "1:4: missing ']' at '<EOF>'"],
  ["[1 2]", "1:4: extraneous input '2' expecting {']', ','}"],
  ["{a b}", "1:4: missing ':' at 'b'"],
  ["a{", "1:3: mismatched input '<EOF>' expecting {'}', ',', IDENTIFIER}"],
  ["== 1", `1:1: extraneous input '==' expecting ${first}`],
  ["a && && b", `1:6: extraneous input '&&' expecting ${first}`],
  ["a b c", "1:3: mismatched input 'b' expecting <EOF>"],
  ["!", `1:2: extraneous input '<EOF>' expecting ${first}`, "1:2: invalid primary expression"],
  ["-", "1:2: no viable alternative at input '-'", `1:2: mismatched input '<EOF>' expecting ${first}`],
  ["! - true", "1:3: invalid literal", "1:5: no viable alternative at input '- true'"],
  ["a = 1", "1:3: token recognition error at: '= '", "1:5: extraneous input '1' expecting <EOF>"],
  ["'a", "1:1: token recognition error at: ''a'", `1:3: mismatched input '<EOF>' expecting ${first}`],
  ["% 1", `1:1: extraneous input '%!'(MISSING) expecting ${first}`],
  ["a ||\n", `2:1: mismatched input '<EOF>' expecting ${first}`],
  ["if || ?", "1:1: reserved identifier: if", `1:7: mismatched input '?' expecting ${first}`, `1:8: mismatched input '<EOF>' expecting ${first}`],
  ["has(x) && has(1", "1:4: invalid argument to has() macro", "1:14: invalid argument to has() macro", "1:16: missing ')' at '<EOF>'"],
  ["size(99999999999999999999 Foo{})", "1:5: expected a qualified name", "1:6: invalid int literal", "1:27: mismatched input 'Foo' expecting ')'", "1:32: extraneous input ')' expecting <EOF>"],
  ["[{,] ? as : )", "1:4: missing '}' at ']'", "1:8: reserved identifier: as", `1:13: mismatched input ')' expecting ${first}`],
  ["as(has(x))", "1:1: reserved identifier: as"],
  ["x().a{b: has(1)}", "1:2: expected a qualified name", "1:4: expected a qualified name"],
  ["has(a.b){c: has(1)}", "1:16: invalid argument to has() macro"],
  ["[1].all(x.y, has(2)) ||", "1:10: argument must be a simple name", "1:17: invalid argument to has() macro", `1:24: mismatched input '<EOF>' expecting ${first}`],
  ["[1].map(1, x) +", "1:8: argument is not an identifier", `1:16: mismatched input '<EOF>' expecting ${first}`],
  ["{(.a(b,in)[1]: 1}", "1:7: mismatched input ',' expecting ')'", "1:8: missing '}' at 'in'", `1:10: extraneous input ')' expecting ${first}`, "1:14: mismatched input ':' expecting <EOF>"],
  ["--)", "1:3: no viable alternative at input '-)'", `1:3: mismatched input ')' expecting ${first}`],
  ["-# ]", "1:2: token recognition error at: '#'", "1:4: no viable alternative at input '- ]'", `1:4: mismatched input ']' expecting ${first}`],
  ["-\n]", "2:1: no viable alternative at input '-\\n]'", `2:1: mismatched input ']' expecting ${first}`],
  ["[1].exists(has(1), 2).all(3, x){} ?", "1:15: invalid argument to has() macro", "1:15: argument must be a simple name", "1:27: argument must be a simple name", "1:27: expected a qualified name", `1:36: mismatched input '<EOF>' expecting ${first}`],
  ["a ? b : (has(c), ", "1:13: invalid argument to has() macro", "1:16: mismatched input ',' expecting ')'"],
  ["a ||\nas", "2:1: reserved identifier: as"],
  ["--9223372036854775808 == 1", "1:3: invalid int literal"],
  ["!-1"],
  ["has(has(a.b))"],
  ["[,]"],
  ["{,}"],
]; // prettier-ignore
for (const [source, ...errors] of cases)
  test(`syntax errors of ${JSON.stringify(source)}`, () => assert.deepEqual(errorsOf(source), errors));

for (const part of ["(== ", "((((", "1 1 ", "[{(", "- ", "a ? "])
  test(`an expression that only repeats ${part} is rejected quickly`, () => {
    const found = errorsOf(part.repeat(90_000 / part.length));
    assert.ok(found.length >= 1 && found.length <= 101);
  });

test("the number of errors that are not shown is reported", () => {
  const source = "1 + + ".repeat(150);
  const { errors = [] } = parse(source, { optionals: false, twoVariables: false });
  const text = formatErrors(source, errors);
  assert.equal(text.split("ERROR: ").length - 1, 100);
  assert.match(text, /\n51 more errors were truncated$/);
});

test("positions after surrogate pairs and under wide characters are as displayed", () => {
  const source = "'\u{1f600}ä\t' +\n'\u{1f600}' 1";
  const { errors = [] } = parse(source, { optionals: false, twoVariables: false });
  assert.equal(
    formatErrors(source, errors),
    "ERROR: <input>:2:5: Syntax error: extraneous input '1' expecting <EOF>\n | '\u{1f600}' 1\n | .\uff0e..^",
  );
});

test("only the first error of a very long invalid expression is reported", () => {
  const long = `[${"a,".repeat(2048)}`;
  assert.deepEqual(errorsOf(`${long}1 2] + has(1)`), ["1:4100: mismatched input '2' expecting ']'"]);
});

test("a long expression is parsed in steps that yield to other work", () => {
  const source = `[${"a, ".repeat(30_000)}a]`;
  let steps = 0;
  for (const _ of parseSteps(source, { optionals: false, twoVariables: false })) steps++;
  assert.ok(steps > 10, `${steps} steps`);
});
