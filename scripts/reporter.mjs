// A node:test reporter: prints failures in full (and every test of the slow suites), and appends each
// result as a line of JSON to the file ORCH_TEST_RESULTS, which scripts/test.mjs evaluates.
import { openSync, writeSync } from "node:fs";
import { relative } from "node:path";
import { inspect } from "node:util";

const verbose = process.env.ORCH_TEST_VERBOSE === "1";
const { ORCH_TEST_RESULTS: file } = process.env;
// Opened once, as there are two lines for each of thousands of tests.
const results = file ? openSync(file, "a") : undefined;
const note = (line) => results !== undefined && writeSync(results, `${JSON.stringify(line)}\n`);

// When all tests of a shared process have ended, handles that still keep the event loop alive are leaks.
const leakMilliseconds = Number(process.env.ORCH_TEST_LEAK_MS ?? 0);
let running = 0;
let idle;
let lastStarted;
/** The file of a test that timed out: it could not close its handles, so leaks are attributed to it. */
let hungFile;

function watchForLeaks(type, nesting) {
  if (leakMilliseconds === 0 || nesting !== 0) return;
  if (type === "test:dequeue") running++;
  if (type === "test:complete") running--;
  clearTimeout(idle);
  if (running > 0) return;
  const endIfIdle = () => running === 0 && endLeaking();
  // After a suspension of the process the timer fires before the next test can start, so check again a turn later.
  idle = setTimeout(() => void setTimeout(endIfIdle).unref(), leakMilliseconds).unref();
}

function endLeaking() {
  const name = `handles were left open by tests: ${leftOpen().join(", ")}`;
  note({ result: "failed", name, file: hungFile ?? "" });
  process.stdout.write(`✖ ${name}\n`);
  process.exit(1);
}

/** Describes what keeps the event loop alive: handles with addresses or files, threads, pending requests. */
function leftOpen() {
  process.report.excludeNetwork = true;
  const { libuv = [], workers = [] } = process.report.getReport();
  const isOwnOutput = ({ fd }) => fd >= 0 && fd <= 2;
  const handles = libuv
    .filter((handle) => handle.is_active && handle.is_referenced && !isOwnOutput(handle))
    .filter(({ type }) => type !== "loop" && type !== "timer")
    .map(({ type, fd, filename, pid, localEndpoint, remoteEndpoint }) =>
      [
        type,
        fd !== undefined && `fd ${fd}`,
        pid !== undefined && `process ${pid}`,
        filename,
        endpoint(localEndpoint),
        remoteEndpoint && `to ${endpoint(remoteEndpoint)}`,
      ]
        .filter(Boolean)
        .join(" "),
    );
  const timers = process
    .getActiveResourcesInfo()
    .filter((name) => name === "Timeout" || name === "Immediate");
  const requests = process._getActiveRequests().map((request) => `request ${request.constructor.name}`);
  const threads = workers.map(({ header }) => `thread ${header?.threadId ?? ""}`);
  return [...handles, ...timers, ...requests, ...threads];
}
const endpoint = (at) => at && (at.path ?? `${at.ip4 ?? at.ip6 ?? at.host}:${at.port}`);

/** Records an error that belongs to no test, with the name of the test that started last. */
export function noteUncaught(error) {
  const name = `uncaught error: ${error?.message ?? error}`;
  const { file = "", test = "none" } = lastStarted ?? {};
  note({ result: "failed", name, file, error: errorText(error) });
  process.stdout.write(
    `✖ ${name}  (the test that began last: ${test}, ${file})\n${indent(errorText(error))}\n`,
  );
}

export default async function* report(events) {
  const above = [];
  for await (const { type, data } of events) {
    watchForLeaks(type, data?.nesting);
    const where = data?.file ? relative(process.cwd(), data.file) : "";
    if (type === "test:start") above[data.nesting] = data.name;
    if (type === "test:dequeue") lastStarted = { test: data.name, file: where };
    if (type === "test:dequeue" && data.nesting === 0) note({ started: data.name, file: where });
    if (type === "test:stdout" || type === "test:stderr") yield data.message;
    if (type !== "test:pass" && type !== "test:fail") continue;
    const name = [...above.slice(0, data.nesting), data.name].join(" › ");
    const reason = data.skip ?? data.todo;
    const result =
      type === "test:fail" && data.todo === undefined
        ? "failed"
        : reason === undefined
          ? "passed"
          : "skipped";
    if (data.details?.error?.failureType === "testTimeoutFailure") hungFile ??= where;
    const isGroup = data.details?.type === "suite";
    if (isGroup && result === "passed") continue;
    // A file without a selected test is reported as a test with the file's name.
    if (name === where && result === "passed") continue;
    // A suite or parent that failed only because of a subtest is not a separate failure.
    if (result === "failed" && data.details?.error?.failureType === "subtestsFailed") continue;
    note({
      result,
      name,
      file: where,
      milliseconds: Math.round(data.details?.duration_ms ?? 0),
      ...(result === "skipped" && { reason: typeof reason === "string" ? reason : "no reason given" }),
      ...(result === "failed" && { error: errorText(data.details?.error) }),
    });
    if (result === "failed")
      yield `✖ ${name}  (${where}:${data.line ?? 0})\n${indent(errorText(data.details?.error))}\n`;
    else if (verbose)
      yield `${result === "passed" ? "✔" : "–"} ${name} (${Math.round(data.details?.duration_ms ?? 0)} ms)${typeof reason === "string" ? `: ${reason}` : ""}\n`;
  }
}

function errorText(error) {
  const cause = error?.cause ?? error;
  return cause?.code === "ERR_ASSERTION" ? cause.stack : inspect(cause, { depth: 8 });
}
const indent = (text) => text.replace(/^/gm, "    ");
