// What a second run of failed test files comes to: tests that pass only then are flaky.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./setup.mjs";

/**
 * The first run without the files that ran again, and the second one with flaky tests marked. A failure that was
 * no test's own, and that the second run does not have, is flaky too.
 */
export function mergeRetry(first, second, files) {
  const ranAgain = new Set(files);
  const key = ({ file, name }) => `${file}\n${name}`;
  const failedBefore = first.filter(({ result }) => result === "failed");
  const keysBefore = new Set(failedBefore.map(key));
  const keysNow = new Set(second.map(key));
  return [
    ...first.filter(({ file }) => file !== "" && !ranAgain.has(file)),
    ...failedBefore
      .filter((each) => !keysNow.has(key(each)))
      .map((each) => ({ ...each, result: "passed", flaky: true })),
    ...second.map((each) =>
      each.result === "passed" && keysBefore.has(key(each)) ? { ...each, flaky: true } : each,
    ),
  ];
}

/** Why the run fails though nothing failed twice; undefined when it does not. */
export function tooManyFlaky(flaky, { ci = Boolean(process.env.CI), most = allowed() } = {}) {
  return ci && flaky.length > most
    ? `${flaky.length} tests are flaky, and .ci/flaky.json allows ${most}`
    : undefined;
}

const allowed = () => JSON.parse(readFileSync(join(root, ".ci", "flaky.json"), "utf8")).most;
