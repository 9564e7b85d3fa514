// Long expressions are parsed in steps, with the same meaning as short ones.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Compilation, compileSteps, environment } from "./program.ts";
import { maxPerStep } from "./resumed.ts";
import { types } from "./types.ts";

const env = environment();
const variables = { self: types.dyn, flag: types.bool };
const times = 3 * maxPerStep;

function compileCounting(source: string): { readonly made: Compilation; readonly steps: number } {
  const steps = compileSteps(env, source, { variables, libraryCosts: true });
  for (let count = 1; ; count += 1) {
    const step = steps.next();
    if (step.done) return { made: step.value, steps: count };
  }
}

const join = (begin: string, item: string, sign: string, end: string, count: number): string =>
  begin + Array.from({ length: count }, () => item).join(sign) + end;

const few = 3;
/** At least the steps of the tokenizer, the parser and the checker. */
const passes = 3;
const wide: [name: string, begin: string, item: string, sign: string, end: string, value: boolean][] = [
  ["a chain of &&", "", "flag", "&&", "", true],
  ["a chain of ||", "", "!flag", "||", "", false],
  ["a list", "[", "1", ",", "].all(x, x == 1)", true],
  ["a map in a list", "[{0:[", "1", ",", "]}][0][0].size() > 0", true],
  ["a list in the body of a macro", "[2].all(x, [", "x", ",", "].all(y, x == y))", true],
  ["a list beside others", "[1].all(x, x == 1) && 1 in [", "2", ",", "] || flag", true],
];
for (const [name, begin, item, sign, end, value] of wide)
  test(`${name} is parsed in steps`, () => {
    const long = compileCounting(join(begin, item, sign, end, times));
    const short = compileCounting(join(begin, item, sign, end, few));
    assert.ok("program" in long.made && "program" in short.made, JSON.stringify(long.made));
    assert.ok(long.steps > short.steps + passes, `${long.steps} steps`);
    const outcome = long.made.program.evaluate({ flag: true, self: 1 }, Infinity);
    assert.deepEqual("error" in outcome ? outcome.error : outcome.value, value);
  });

test("an error is reported once, whichever step found it", () => {
  const list = join("[", "1", ",", "]", times);
  const source = `[missing.all(a, has(1)), ${list}, 'a' + 1, other]`;
  const { made } = compileCounting(source);
  assert.ok("error" in made);
  assert.deepEqual(made.error.match(/ERROR: <input>:\d+:\d+: .*/g), [
    "ERROR: <input>:1:20: invalid argument to has() macro",
  ]);
  const { made: typed } = compileCounting(source.replace("has(1)", "true"));
  assert.ok("error" in typed);
  const messages = typed.error.match(/(?<=ERROR: <input>:\d+:\d+: ).*/g);
  assert.equal(new Set(messages).size, messages?.length);
  assert.ok(messages!.length > 2, typed.error.slice(0, 300));
});

const estimated: [name: string, begin: string, item: string, sign: string, end: string][] = [
  ["a chain", "", "flag", "&&", ""],
  ["a list", "[", "self.a", ",", "].size() > 0"],
];
for (const [name, begin, item, sign, end] of estimated)
  test(`the cost of ${name} grows with its length`, () => {
    const costOf = (count: number): number => {
      const { made } = compileCounting(join(begin, item, sign, end, count));
      assert.ok("program" in made);
      return made.program.estimateCost().max;
    };
    const one = costOf(2) - costOf(1);
    assert.equal(costOf(times) - costOf(1), one * (times - 1));
  });
