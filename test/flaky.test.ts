// A test that passes only when it runs again is flaky, and CI bounds how many there are.
import assert from "node:assert/strict";
import { test } from "node:test";

interface Result {
  readonly result: string;
  readonly name: string;
  readonly file: string;
  readonly flaky?: boolean;
}
interface Flaky {
  mergeRetry(first: readonly Result[], second: readonly Result[], files: readonly string[]): Result[];
  tooManyFlaky(flaky: readonly Result[], options: { ci: boolean; most: number }): string | undefined;
}
const script = new URL("../scripts/flaky.mjs", import.meta.url).href;
const { mergeRetry, tooManyFlaky } = (await import(script)) as Flaky;
const result = (name: string, file: string, said = "passed"): Result => ({ name, file, result: said });

test("a test that failed and then passes is flaky, the others of its file are not", () => {
  const first = [result("a", "x", "failed"), result("b", "x"), result("c", "y")];
  const merged = mergeRetry(first, [result("a", "x"), result("b", "x")], ["x"]);
  assert.deepEqual(
    merged.map(({ name, result: said, flaky = false }) => [name, said, flaky]),
    [
      ["c", "passed", false],
      ["a", "passed", true],
      ["b", "passed", false],
    ],
  );
});

test("a failure that is no test's own and does not come again is flaky", () => {
  const merged = mergeRetry([result("a", "x"), result("leak", "", "failed")], [result("a", "x")], ["x"]);
  assert.deepEqual(
    merged.map(({ name, result: said, flaky = false }) => [name, said, flaky]),
    [
      ["leak", "passed", true],
      ["a", "passed", false],
    ],
  );
});

test("a test that fails twice has failed", () => {
  const failed = result("a", "x", "failed");
  assert.deepEqual(mergeRetry([failed], [failed], ["x"]), [failed]);
});

test("CI allows only so many, other runs only tell", () => {
  const flaky = [result("a", "x"), result("b", "x")];
  assert.match(tooManyFlaky(flaky, { ci: true, most: 1 })!, /2 tests are flaky/);
  assert.equal(tooManyFlaky(flaky, { ci: true, most: 2 }), undefined);
  assert.equal(tooManyFlaky(flaky, { ci: false, most: 0 }), undefined);
});
