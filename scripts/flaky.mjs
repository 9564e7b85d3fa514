// What a second run of failed test files comes to: tests that pass only then are flaky.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./setup.mjs";

/** The files to run again: those that failed, or all where a failure is no single file's (a leak, a shared contract). */
export function filesToRunAgain(first, files) {
  const failed = new Set(first.filter(({ result }) => result === "failed").map(({ file }) => file));
  const own = files.filter((file) => failed.has(file));
  return own.length === failed.size ? own : files;
}

/**
 * The first run without what ran again, and the second one with flaky tests marked and why they failed. A failure
 * that the second run does not have is flaky too, whether or not it was a test's own.
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

/** Why the run fails though nothing failed twice; undefined when it does not. */
export function tooManyFlaky(flaky, { ci = Boolean(process.env.CI), most = allowed() } = {}) {
  return ci && flaky.length > most
    ? `${flaky.length} tests are flaky, and .ci/flaky.json allows ${most}`
    : undefined;
}

const allowed = () => JSON.parse(readFileSync(join(root, ".ci", "flaky.json"), "utf8")).most;
