// What a second run of failed test files comes to: tests that pass only then are flaky.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./setup.mjs";

/** The first run without the files that ran again, and the second one with flaky tests marked. */
export function mergeRetry(first, second, files) {
  const ranAgain = new Set(files);
  const key = ({ file, name }) => `${file}\n${name}`;
  const failedBefore = new Set(first.filter(({ result }) => result === "failed").map(key));
  return [
    ...first.filter(({ file }) => file !== "" && !ranAgain.has(file)),
    ...second.map((each) =>
      each.result === "passed" && failedBefore.has(key(each)) ? { ...each, flaky: true } : each,
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
