// Merges the second run of failed test files: tests that pass only then are flaky.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./setup.mjs";

/** Returns the files to rerun: those that failed, or all if a failure belongs to no single file (a leak, a contract). */
export function filesToRunAgain(first, files) {
  const failed = new Set(first.filter(({ result }) => result === "failed").map(({ file }) => file));
  const own = files.filter((file) => failed.has(file));
  return own.length === failed.size ? own : files;
}

/**
 * Merges the results of both runs: rerun tests count with their second result, and are marked as flaky with the
 * first error if they passed. A failure that does not recur is flaky even if it belonged to no test.
 */
export function mergeRetry(first, second, { again, all }) {
  const ranAgain = ({ file }) => again.length === all.length || again.includes(file);
  const key = ({ file, name }) => `${file}\n${name}`;
  const failedBefore = first.filter(({ result }) => result === "failed");
  const errorsBefore = new Map(failedBefore.map((each) => [key(each), each.error]));
  const keysNow = new Set(second.map(key));
  return [
    ...first.filter((each) => !ranAgain(each)),
    ...failedBefore
      .filter((each) => !keysNow.has(key(each)))
      .map((each) => ({ ...each, result: "passed", flaky: true })),
    ...second.map((each) =>
      each.result === "passed" && errorsBefore.has(key(each))
        ? { ...each, flaky: true, error: errorsBefore.get(key(each)) }
        : each,
    ),
  ];
}

/** Returns why the run fails although no test failed twice, or undefined. */
export function tooManyFlaky(flaky, { ci = Boolean(process.env.CI), most = allowed() } = {}) {
  return ci && flaky.length > most
    ? `${flaky.length} tests are flaky, and .ci/flaky.json allows ${most}`
    : undefined;
}

const allowed = () => JSON.parse(readFileSync(join(root, ".ci", "flaky.json"), "utf8")).most;
