// npm test [-- pattern]: sets everything up on a fresh clone, then runs every check and test. A pattern picks
// the test files whose path contains it, else the tests whose name matches it. The last line is the count;
// skipped tests are listed above it.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checks } from "./checks.mjs";
import { mergeRetry, tooManyFlaky } from "./flaky.mjs";
import { build, filesUnder, install, root, runtime } from "./setup.mjs";
import { installSystemPackages } from "./system-packages.mjs";

// Tests beside the code that start real programs (a store, a container runtime) are called x.live.test.ts;
// the others share one process.
const beside = filesUnder("src", ".test.ts").filter((file) => !file.endsWith(".live.test.ts"));
const topOfTest = filesUnder("test", ".test.ts").filter((file) => /^test\/[^/]+$/.test(file));

// Limits are for machines that are much slower than usual: the whole takes about a quarter of an hour on two
// free cores. Suites that start real programs depend on the machine around them: files of theirs that fail
// are run once more, and both runs are told.
const suites = [
  {
    name: "unit",
    files: [...topOfTest, ...beside],
    args: ["--test-isolation=none"],
    leakMilliseconds: 20_000,
    minutes: 5,
    verbose: false,
  },
  {
    name: "attacks",
    files: filesUnder("test/attacks", ".test.ts"),
    args: ["--test-isolation=none", "--test-force-exit"],
    minutes: 2,
    verbose: false,
  },
  {
    name: "programs",
    files: filesUnder("src", ".live.test.ts"),
    args: ["--test-concurrency=2"],
    minutes: 6,
    verbose: false,
    again: true,
  },
  {
    name: "e2e",
    files: filesUnder("test/e2e", ".test.ts"),
    args: ["--test-concurrency=1"],
    minutes: 20,
    verbose: true,
    again: true,
  },
  {
    name: "robustness",
    files: filesUnder("test/robustness", ".test.ts"),
    args: ["--test-concurrency=1"],
    minutes: 10,
    verbose: true,
    again: true,
  },
];

const pattern = process.argv[2];
const results = [];
const note = (result, name) => results.push({ result, name, file: "" });

await install();
note((await build()) ? "passed" : "failed", "build");
if (pattern === undefined) {
  for (const { name, run } of checks) {
    const began = performance.now();
    const good = run();
    note(good ? "passed" : "failed", name);
    console.log(`${good ? "✔" : "✖"} ${name} (${seconds(began)})`);
  }
}
const chosen = choose(pattern);
installSystemPackages();
for (const suite of chosen) await runTwiceIfNeeded(suite);
if (pattern !== undefined && results.length === 1)
  note("failed", `no test has ${JSON.stringify(pattern)} in its path or its name`);
finish();

function choose(wanted) {
  const all = suites.filter(({ files }) => files.length > 0);
  if (wanted === undefined) return all;
  const byPath = all
    .map((suite) => ({ ...suite, files: suite.files.filter((file) => file.includes(wanted)) }))
    .filter(({ files }) => files.length > 0);
  return byPath.length > 0
    ? byPath
    : all.map((suite) => ({ ...suite, args: [...suite.args, `--test-name-pattern=${wanted}`] }));
}

async function runTwiceIfNeeded(suite) {
  const first = await runSuite(suite);
  const failed = new Set(first.filter(({ result }) => result === "failed").map(({ file }) => file));
  if (failed.size === 0 || !suite.again) {
    results.push(...first);
    return;
  }
  const own = suite.files.filter((file) => failed.has(file));
  const files = own.length === failed.size ? own : suite.files;
  console.log(`${suite.name}: once more: ${files.join(", ")}`);
  results.push(...mergeRetry(first, await runSuite({ ...suite, files }), files));
}

async function runSuite({ name, files, args, minutes, verbose, leakMilliseconds = 0 }) {
  const began = performance.now();
  const folder = mkdtempSync(join(tmpdir(), "orch-test-"));
  const notes = join(folder, "results");
  writeFileSync(notes, "");
  const env = {
    ...process.env,
    ORCH_TEST_RESULTS: notes,
    ORCH_TEST_VERBOSE: verbose ? "1" : "0",
    ORCH_TEST_LEAK_MS: String(leakMilliseconds),
  };
  delete env.NODE_TEST_CONTEXT;
  const reporter = new URL("reporter.mjs", import.meta.url).href;
  const child = spawn(
    runtime(),
    ["--conditions=orch-source", "--test", `--test-reporter=${reporter}`, ...args, ...files],
    {
      cwd: root,
      env,
      stdio: ["ignore", "inherit", "inherit"],
      detached: true,
    },
  );
  const stop = (signal) => {
    try {
      process.kill(-child.pid, signal);
    } catch {
      // It has ended already.
    }
  };
  const interrupt = () => {
    stop("SIGTERM");
    process.exit(130);
  };
  process.once("SIGINT", interrupt);
  process.once("SIGTERM", interrupt);
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    stop("SIGKILL");
  }, minutes * 60_000);
  const code = await new Promise((resolve) => child.on("exit", resolve));
  clearTimeout(timer);
  process.off("SIGINT", interrupt);
  process.off("SIGTERM", interrupt);
  const lines = readFileSync(notes, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  rmSync(folder, { recursive: true });
  const found = lines.filter(({ result }) => result);
  const last = lines.findLast(({ started }) => started);
  if (late)
    found.push({
      result: "failed",
      name: `${name} tests took longer than ${minutes} minutes; the last one started was "${last?.started}"`,
      file: last?.file ?? "",
    });
  else if (code !== 0 && !found.some(({ result }) => result === "failed"))
    found.push({
      result: "failed",
      name: `${name} tests ended with exit code ${code}`,
      file: last?.file ?? "",
    });
  console.log(
    `${found.some(({ result }) => result === "failed") ? "✖" : "✔"} ${name}: ${count(found)} (${seconds(began)})`,
  );
  if (performance.now() - began > 20_000) console.log(`  the slowest: ${slowest(found).join("; ")}`);
  return found;
}

function slowest(list) {
  const byFile = new Map();
  for (const { file, milliseconds = 0 } of list)
    byFile.set(file, (byFile.get(file) ?? 0) + milliseconds / 1000);
  return [...byFile]
    .sort(([, a], [, b]) => b - a)
    .slice(0, 8)
    .map(([file, taken]) => `${file} ${taken.toFixed(1)} s`);
}

function finish() {
  const failed = results.filter(({ result }) => result === "failed");
  const skipped = results.filter(({ result }) => result === "skipped");
  const flaky = results.filter((result) => result.flaky);
  if (flaky.length)
    console.log(`\nFlaky (failed, then passed): ${flaky.length}\n${flaky.map(line).join("\n")}`);
  const refusal = tooManyFlaky(flaky);
  if (refusal) console.log(refusal);
  if (failed.length) console.log(`\nFailed:\n${failed.map(line).join("\n")}`);
  if (skipped.length) console.log(`\nSkipped:\n${skipped.map(line).join("\n")}`);
  console.log(`\n${count(results)}`);
  process.exitCode = failed.length || refusal ? 1 : 0;
}

function line({ name, file, reason }) {
  return `  ${name}${file && ` (${file})`}${reason ? `: ${reason}` : ""}`;
}
function count(list) {
  const number = (wanted) => list.filter(({ result }) => result === wanted).length;
  return `${number("passed")} passed, ${number("failed")} failed, ${number("skipped")} skipped`;
}
function seconds(since) {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`;
}
