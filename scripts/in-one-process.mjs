// Runs test files in a single process, like `node --test --test-isolation=none`, in a third less time: the test
// runner tracks every promise to attribute hooks and uncaught errors to a test, which costs more than most tests.
// Here an AsyncLocalStorage identifies the test.
//   node scripts/in-one-process.mjs [--test-name-pattern=PATTERN] [--test-force-exit] FILE...
import asyncHooks, { AsyncLocalStorage } from "node:async_hooks";
import { tracingChannel } from "node:diagnostics_channel";
import { forgetEnded } from "./forget-ended.mjs";
import report, { noteUncaught } from "./reporter.mjs";

const { createHook, executionAsyncId } = asyncHooks;
const forget = forgetEnded();
asyncHooks.createHook = ({ init }) =>
  createHook({
    trackPromises: false,
    // A test is identified by its async resource; suites find the tests declared inside them through it.
    init: (id, type, trigger, test) => {
      if (type !== "Test") return;
      init(id, type, trigger, test);
      forget.declared(test);
    },
  });
// Without it after() inside a test, as used by fixtures, would run after all tests.
const runningTest = new AsyncLocalStorage();
tracingChannel("node.test").start.bindStore(runningTest, () => executionAsyncId());
asyncHooks.executionAsyncId = () => runningTest.getStore() ?? executionAsyncId();
// Imported only now, because it captures these functions when it is loaded.
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
stream.on("test:complete", ({ nesting }) => nesting === 0 && forget.ended());
stream.on("test:fail", ({ todo }) => {
  if (todo === undefined) process.exitCode = 1;
});
for (const event of ["uncaughtException", "unhandledRejection"])
  process.on(event, (error) => {
    noteUncaught(error);
    process.exitCode = 1;
  });
for await (const text of report(stream)) process.stdout.write(text);
