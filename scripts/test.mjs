// npm test [-- pattern]: sets everything up on a fresh clone, then runs every check and test. A pattern selects
// the suite of that name (`unit`), otherwise test files whose path contains it, otherwise tests whose name, as written
// in the file, contains it. The last line is the count; skipped tests are listed above it.
import { readFileSync } from "node:fs";
import { checks } from "./checks.mjs";
import { filesToRunAgain, mergeRetry, tooManyFlaky } from "./flaky.mjs";
import { count, runSuite } from "./run-suite.mjs";
import { build, filesUnder, install } from "./setup.mjs";
import { installSystemPackages } from "./system-packages.mjs";

// Unit tests that start real programs (etcd, a container runtime) or profile their process are in x.live.test.ts; all
// others share one process per core.
const beside = filesUnder("src", ".test.ts").filter((file) => !file.endsWith(".live.test.ts"));
const topOfTest = filesUnder("test", ".test.ts").filter((file) => /^test\/[^/]+$/.test(file));

/** Sorts the slowest files first, so that none of them runs alone at the end. */
const longFirst = (files) => {
  const isLong = (file) => /nodeagent\/(pods|leaving|inside|node-failures|faults)/.test(file);
  return [...files.filter(isLong), ...files.filter((file) => !isLong(file))];
};

// Stages run one after the other, the suites of a stage in parallel: the first needs the cores, the others mostly
// wait for programs, and each test has separate ports, folders, networks and cgroups. Time limits allow for much
// slower machines. Suites that start real programs depend on their environment: failed files are run once more,
// alone, and both runs are reported. testSeconds is the limit of tests that set none.
const stages = [
  [
    {
      name: "unit",
      files: [...topOfTest, ...beside],
      args: [],
      inOneProcess: true,
      shards: 2,
      leakMilliseconds: 20_000,
      testSeconds: 90,
      minutes: 15,
      verbose: false,
      again: true,
    },
  ],
  [
    {
      name: "attacks",
      files: filesUnder("test/attacks", ".test.ts"),
      args: ["--test-force-exit"],
      inOneProcess: true,
      testSeconds: 90,
      minutes: 10,
      verbose: false,
    },
    {
      name: "programs",
      files: filesUnder("src", ".live.test.ts"),
      args: ["--test-concurrency=2"],
      testSeconds: 150,
      minutes: 15,
      verbose: false,
      again: true,
    },
  ],
  [
    {
      name: "e2e",
      files: longFirst(filesUnder("test/e2e", ".test.ts")),
      args: ["--test-concurrency=2"],
      testSeconds: 600,
      minutes: 40,
      verbose: true,
      again: true,
    },
  ],
  [
    {
      name: "ui",
      files: filesUnder("test/ui", ".test.ts"),
      args: ["--test-concurrency=2"],
      testSeconds: 150,
      minutes: 15,
      verbose: true,
      again: true,
    },
  ],
  [
    {
      name: "robustness",
      files: filesUnder("test/robustness", ".test.ts"),
      args: ["--test-concurrency=1"],
      testSeconds: 300,
      minutes: 20,
      verbose: true,
      again: true,
    },
  ],
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
for (const stage of chosen) await runStage(stage);
if (pattern !== undefined && results.length === 1)
  note("failed", `no test has ${JSON.stringify(pattern)} in its path or its name`);
finish();

/** Returns the stages restricted to the requested suite, test files or test names. */
function choose(wanted) {
  const narrowed = (isChosen, args = []) =>
    stages
      .map((stage) =>
        stage
          .map((suite) => ({
            ...suite,
            args: [...suite.args, ...args],
            files: suite.files.filter((file) => isChosen(file, suite)),
          }))
          .filter(({ files }) => files.length > 0),
      )
      .filter((stage) => stage.length > 0);
  if (wanted === undefined) return narrowed(() => true);
  const bySuite = narrowed((_, { name }) => name === wanted);
  if (bySuite.length > 0) return bySuite;
  const byPath = narrowed((file) => file.includes(wanted));
  if (byPath.length > 0) return byPath;
  // Files without a matching test are excluded, so that their fixtures are not started in vain.
  const literally = wanted.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  return narrowed(
    (file) => readFileSync(file, "utf8").includes(wanted),
    [`--test-name-pattern=${literally}`],
  );
}

/** Runs the suites of a stage in parallel, then reruns failed files of suites that allow it one by one. */
async function runStage(stage) {
  const first = await Promise.all(stage.map(runSuite));
  for (const [at, suite] of stage.entries()) results.push(...(await runAgainIfNeeded(suite, first[at])));
}

async function runAgainIfNeeded(suite, first) {
  const again = filesToRunAgain(first, suite.files);
  if (again.length === 0 || !suite.again) return first;
  const isAll = again.length === suite.files.length;
  console.log(`${suite.name}: once more: ${isAll ? "all files" : again.join(", ")}`);
  const args = suite.inOneProcess ? suite.args : [...suite.args, "--test-concurrency=1"];
  const second = await runSuite({ ...suite, files: again, args, shards: isAll ? suite.shards : 1 });
  return mergeRetry(first, second, { again, all: suite.files });
}

function finish() {
  const failed = results.filter(({ result }) => result === "failed");
  const skipped = results.filter(({ result }) => result === "skipped");
  const flaky = results.filter((result) => result.flaky);
  if (flaky.length)
    console.log(`\nFlaky (failed, then passed): ${flaky.length}\n${flaky.map(withError).join("\n")}`);
  const refusal = tooManyFlaky(flaky);
  if (refusal) console.log(refusal);
  if (failed.length) console.log(`\nFailed:\n${failed.map(line).join("\n")}`);
  if (skipped.length) console.log(`\nSkipped:\n${skipped.map(line).join("\n")}`);
  console.log(`\n${count(results)}`);
  process.exitCode = failed.length || refusal ? 1 : 0;
}

/** Repeats the errors at the end of the output, so that they are visible in a truncated log. */
function withError(result) {
  const error = (result.error ?? "").split("\n").slice(0, 25);
  return [line(result), ...error.map((each) => `      ${each}`)].join("\n");
}
function line({ name, file, reason }) {
  return `  ${name}${file && ` (${file})`}${reason ? `: ${reason}` : ""}`;
}
function seconds(since) {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`;
}
