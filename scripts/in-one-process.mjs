// Runs test files in this one process, as `node --test --test-isolation=none` does, for a third less time: the
// test runner follows every promise to find the test that an uncaught error belongs to, which costs more than
// most tests do. Without that such an error is told with the test that began last.
//   node scripts/in-one-process.mjs [--test-name-pattern=PATTERN] [--test-force-exit] FILE...
import asyncHooks from "node:async_hooks";
import report, { noteUncaught } from "./reporter.mjs";

const { createHook } = asyncHooks;
asyncHooks.createHook = ({ init }) =>
  createHook({
    trackPromises: false,
    // A test is known by its own resource, in which groups find what is declared inside them.
    init: (id, type, ...rest) => type === "Test" && init(id, type, ...rest),
  });
// Loaded only now: it takes the function when it is loaded.
const { run } = await import("node:test");

const patternFlag = "--test-name-pattern=";
const args = process.argv.slice(2);
const testNamePatterns = args
  .filter((arg) => arg.startsWith(patternFlag))
  .map((arg) => arg.slice(patternFlag.length));
const stream = run({
  files: args.filter((arg) => !arg.startsWith("--")),
  isolation: "none",
  forceExit: args.includes("--test-force-exit"),
  ...(testNamePatterns.length > 0 && { testNamePatterns }),
});
stream.on("test:fail", ({ todo }) => {
  if (todo === undefined) process.exitCode = 1;
});
for (const event of ["uncaughtException", "unhandledRejection"])
  process.on(event, (error) => {
    noteUncaught(error);
    process.exitCode = 1;
  });
for await (const text of report(stream)) process.stdout.write(text);
