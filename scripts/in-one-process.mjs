// Runs test files in this one process, as `node --test --test-isolation=none` does, for a third less time: the
// test runner follows every promise to find the test that a hook or an uncaught error belongs to, which costs
// more than most tests do. Here a store that flows through promises tells it.
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
    // A test is known by its own resource, in which groups find what is declared inside them.
    init: (id, type, trigger, test) => {
      if (type !== "Test") return;
      init(id, type, trigger, test);
      forget.declared(test);
    },
  });
// Without it what a test asks for with after(), as fixtures do, would happen when all tests are over.
const runningTest = new AsyncLocalStorage();
tracingChannel("node.test").start.bindStore(runningTest, () => executionAsyncId());
asyncHooks.executionAsyncId = () => runningTest.getStore() ?? executionAsyncId();
// Loaded only now: it takes the functions when it is loaded.
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
