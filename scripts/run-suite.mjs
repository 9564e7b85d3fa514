// Runs one suite of test files in child processes (in several shards if configured) and returns the results that
// the reporter recorded.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { root, runtime } from "./setup.mjs";

// CPU seconds of the slowest files, by which files are assigned to processes so that these end together.
const longTests = JSON.parse(readFileSync(new URL("long-tests.json", import.meta.url), "utf8"));

const reporter = new URL("reporter.mjs", import.meta.url).href;
const oneProcess = fileURLToPath(new URL("in-one-process.mjs", import.meta.url));

// A process that runs thousands of tests allocates many short-lived objects next to long-lived code: a large young
// generation avoids marking the old one too often. External memory counts towards the heap limit instead of
// triggering a collection every 64 MB, and idle periods do not trigger one. Each test briefly runs different code,
// so the optimizing compiler costs more than its code saves.
const engineFlags = [
  "--no-turbofan",
  "--initial-old-space-size=1500",
  "--min-semi-space-size=32",
  "--max-semi-space-size=64",
  "--external-memory-accounted-in-global-limit",
  "--no-memory-reducer",
];

/** Runs all files of a suite, prints a summary, and returns one result per test. */
export async function runSuite(suite) {
  const began = performance.now();
  const shards = shardsOf(suite.files, suite.shards ?? 1, longTests);
  const ends = [];
  const found = (
    await Promise.all(
      shards.map(async (files) => {
        const results = await runShard({ ...suite, files });
        ends.push(performance.now() - began);
        return results;
      }),
    )
  ).flat();
  const good = !found.some(({ result }) => result === "failed");
  const taken = performance.now() - began;
  console.log(`${good ? "✔" : "✖"} ${suite.name}: ${count(found)} (${(taken / 1000).toFixed(1)} s)`);
  if (taken > 20_000) console.log(`  the slowest: ${slowest(found).join("; ")}`);
  if (taken > 20_000 && ends.length > 1)
    console.log(`  its processes took ${ends.map((each) => `${(each / 1000).toFixed(1)} s`).join(" and ")}`);
  return found;
}

export function count(list) {
  const number = (wanted) => list.filter(({ result }) => result === wanted).length;
  return `${number("passed")} passed, ${number("failed")} failed, ${number("skipped")} skipped`;
}

/** CPU seconds of a file that is not in the table. */
const ordinarySeconds = 0.05;

/**
 * Distributes the files over shards, slowest first, each to the least loaded shard, so that neighbouring files of
 * similar cost land in different shards. Each shard keeps the order of the files.
 */
export function shardsOf(files, most, seconds = {}) {
  const shards = Array.from({ length: Math.max(1, Math.min(most, files.length)) }, () => ({
    own: new Set(),
    seconds: 0,
  }));
  const secondsOf = (file) => seconds[file] ?? ordinarySeconds;
  for (const file of files.toSorted((a, b) => secondsOf(b) - secondsOf(a))) {
    const free = shards.reduce((least, shard) => (shard.seconds < least.seconds ? shard : least));
    free.own.add(file);
    free.seconds += secondsOf(file);
  }
  return shards.map(({ own }) => files.filter((file) => own.has(file)));
}

async function runShard(suite) {
  const { name, files, args, minutes, verbose, inOneProcess = false, leakMilliseconds = 0 } = suite;
  const { testSeconds } = suite;
  const folder = mkdtempSync(join(tmpdir(), "orch-test-"));
  const notes = join(folder, "results");
  writeFileSync(notes, "");
  const env = {
    // Stripped and compiled sources are cached across threads and child programs, which halves the CPU time of
    // opening a store or starting a server from source.
    NODE_COMPILE_CACHE: join(root, "node_modules", ".cache", "compiled"),
    ...process.env,
    ORCH_TEST_RESULTS: notes,
    ORCH_TEST_VERBOSE: verbose ? "1" : "0",
    ORCH_TEST_LEAK_MS: String(leakMilliseconds),
  };
  delete env.NODE_TEST_CONTEXT;
  const runner = inOneProcess
    ? [...engineFlags, oneProcess]
    : ["--test", "--test-force-exit", `--test-reporter=${reporter}`];
  // A test or hook that hangs fails under its own name, and later tests still run; handles it left open do not keep
  // the process alive.
  const limit = `--test-timeout=${testSeconds * 1000}`;
  const child = spawn(runtime(), ["--conditions=orch-source", limit, ...runner, ...args, ...files], {
    cwd: root,
    env,
    stdio: ["ignore", "inherit", "inherit"],
    detached: true,
  });
  const { code, late } = await ended(child, minutes * 60_000);
  const lines = readFileSync(notes, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  rmSync(folder, { recursive: true });
  const found = lines.filter(({ result }) => result);
  const last = lines.findLast(({ started }) => started);
  const failed = (text) => found.push({ result: "failed", name: text, file: last?.file ?? "" });
  if (late)
    failed(`${name} tests took longer than ${minutes} minutes; the last one started was "${last?.started}"`);
  else if (code !== 0 && !found.some(({ result }) => result === "failed"))
    failed(`${name} tests ended with exit code ${code}`);
  return found;
}

/** Waits for a child that leads a process group; the group is killed when this process ends or on timeout. */
async function ended(child, milliseconds) {
  const stop = (signal) => {
    try {
      process.kill(-child.pid, signal);
    } catch {
      // It has exited already.
    }
  };
  const interrupt = () => {
    stop("SIGTERM");
    process.exitCode = 130;
    setImmediate(() => process.exit());
  };
  process.once("SIGINT", interrupt);
  process.once("SIGTERM", interrupt);
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    stop("SIGKILL");
  }, milliseconds);
  const code = await new Promise((resolve) => child.on("exit", resolve));
  clearTimeout(timer);
  process.off("SIGINT", interrupt);
  process.off("SIGTERM", interrupt);
  return { code, late };
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
