// A test that fails and passes on a second run is flaky; CI limits the number of flaky tests.
import assert from "node:assert/strict";
import { test } from "node:test";

interface Result {
  readonly result: string;
  readonly name: string;
  readonly file: string;
  readonly flaky?: boolean;
  /** Why the test failed. */
  readonly error?: string;
}
interface Flaky {
  filesToRunAgain(first: readonly Result[], files: readonly string[]): string[];
  mergeRetry(
    first: readonly Result[],
    second: readonly Result[],
    files: { again: readonly string[]; all: readonly string[] },
  ): Result[];
  tooManyFlaky(flaky: readonly Result[], options: { ci: boolean; most: number }): string | undefined;
}
const script = new URL("../scripts/flaky.mjs", import.meta.url).href;
const { filesToRunAgain, mergeRetry, tooManyFlaky } = (await import(script)) as Flaky;
const result = (name: string, file: string, outcome = "passed"): Result => ({ name, file, result: outcome });

test("a test that failed and then passes is flaky, the others of its file are not", () => {
  const failed = { ...result("a", "x", "failed"), error: "1 is not 2" };
  const first = [failed, result("b", "x"), result("c", "y")];
  const merged = mergeRetry(first, [result("a", "x"), result("b", "x")], { again: ["x"], all: ["x", "y"] });
  assert.deepEqual(
    merged.map(({ name, result: outcome, flaky = false, error = "" }) => [name, outcome, flaky, error]),
    [
      ["c", "passed", false, ""],
      ["a", "passed", true, "1 is not 2"],
      ["b", "passed", false, ""],
    ],
  );
});

test("a failure outside of any test that does not recur is flaky", () => {
  const first = [result("a", "x"), result("leak", "", "failed")];
  const merged = mergeRetry(first, [result("a", "x")], { again: ["x"], all: ["x"] });
  assert.deepEqual(
    merged.map(({ name, result: outcome, flaky = false }) => [name, outcome, flaky]),
    [
      ["leak", "passed", true],
      ["a", "passed", false],
    ],
  );
});

test("if all files ran again, the tests of a shared contract count once", () => {
  const first = [result("kept", "x.contract"), result("lost", "x.contract", "failed"), result("a", "x")];
  const second = [result("kept", "x.contract"), result("lost", "x.contract"), result("a", "x")];
  const merged = mergeRetry(first, second, { again: ["x", "y"], all: ["x", "y"] });
  assert.deepEqual(
    merged.map(({ name, flaky = false }) => [name, flaky]),
    [
      ["kept", false],
      ["lost", true],
      ["a", false],
    ],
  );
});

const again: [name: string, first: Result[], expected: string[]][] = [
  ["without failures no file runs again", [result("a", "x")], []],
  ["only the failed file runs again", [result("a", "x", "failed"), result("b", "y")], ["x"]],
  ["a failure that belongs to no file reruns all files", [result("leak", "", "failed")], ["x", "y"]],
  ["a failure in a shared contract reruns all files", [result("a", "x.contract", "failed")], ["x", "y"]],
];
for (const [name, first, expected] of again)
  test(name, () => assert.deepEqual(filesToRunAgain(first, ["x", "y"]), expected));

test("a test that fails twice has failed", () => {
  const failed = result("a", "x", "failed");
  assert.deepEqual(mergeRetry([failed], [failed], { again: ["x"], all: ["x", "y"] }), [failed]);
});

test("CI limits the number of flaky tests, other runs only report them", () => {
  const flaky = [result("a", "x"), result("b", "x")];
  assert.match(tooManyFlaky(flaky, { ci: true, most: 1 })!, /2 tests are flaky/);
  assert.equal(tooManyFlaky(flaky, { ci: true, most: 2 }), undefined);
  assert.equal(tooManyFlaky(flaky, { ci: false, most: 0 }), undefined);
});
