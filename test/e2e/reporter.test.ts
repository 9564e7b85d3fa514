// The counting behind `npm test`, on small test files of its own.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";

const reporter = new URL("../../scripts/reporter.mjs", import.meta.url).href;
const inOneProcess = fileURLToPath(new URL("../../scripts/in-one-process.mjs", import.meta.url));
const runners: Readonly<Record<string, readonly string[]>> = {
  "in one process": [inOneProcess],
  "a process each": ["--test", "--test-isolation=process", `--test-reporter=${reporter}`],
};

const cases: [name: string, source: string, results: string[]][] = [
  ["a test that passes", `test("a", () => {});`, ["passed a"]],
  ["a test that fails", `test("a", () => { throw new Error("no"); });`, ["failed a"]],
  ["a skipped test carries its reason", `test("a", { skip: "no etcd" }, () => {});`, ["skipped a: no etcd"]],
  [
    "a group counts what is inside it",
    `describe("g", () => { test("a", () => {}); test("b", () => {}); });`,
    ["passed g › a", "passed g › b"],
  ],
  [
    "a skipped group counts once",
    `describe("g", { skip: "no etcd" }, () => { test("a", () => {}); });`,
    ["skipped g: no etcd"],
  ],
  [
    "a failure inside a group counts once",
    `describe("g", () => { test("a", () => { throw new Error("no"); }); });`,
    ["failed g › a"],
  ],
  [
    "a group whose preparation fails is a failure",
    `describe("g", () => { before(() => { throw new Error("no"); }); test("a", () => {}); });`,
    ["failed g › a", "failed g"],
  ],
  ["a file without tests counts nothing", "", []],
  ["a file that cannot be loaded is a failure", `throw new Error("no");`, ["failed x.test.mjs"]],
];

for (const runner of Object.keys(runners)) {
  for (const [name, source, expected] of cases) {
    test(`${name}, ${runner}`, (t) => {
      const { status, results } = runTests(t, source, runner);
      assert.deepEqual(results, expected);
      assert.equal(status, expected.some((result) => result.startsWith("failed")) ? 1 : 0);
    });
  }
}

const leaks: [what: string, source: string, told: RegExp][] = [
  [
    "a server",
    `test("a", () => void createServer().listen(0, "127.0.0.1"));`,
    /^tcp fd \d+ 127\.0\.0\.1:\d+$/,
  ],
  ["a timer", `test("a", () => void setInterval(() => {}, 1000));`, /^Timeout$/],
  [
    "a thread",
    `test("a", () => void new Worker("setInterval(() => {}, 1000)", { eval: true }));`,
    /thread \d+$/,
  ],
];
for (const [what, source, told] of leaks) {
  test(`${what} that a test leaves behind is a failure that names it`, (t) => {
    const { status, results } = runTests(t, source, "in one process", { ORCH_TEST_LEAK_MS: "200" });
    assert.equal(status, 1);
    assert.equal(results[0], "passed a");
    assert.match(results[1]!.replace("failed handles were left open by tests: ", ""), told);
  });
}

test("an error that no test catches is a failure, told with the test that began last", (t) => {
  const rejecting = `test("a", async () => {
    void Promise.reject(new Error("lost"));
    await new Promise((resolve) => setTimeout(resolve, 10));
  });`;
  const { status, results } = runTests(t, rejecting, "in one process");
  assert.deepEqual([status, results], [1, ["failed uncaught error: lost", "passed a"]]);
});

/** Runs one file of tests under the reporter; its exit code and what it noted. */
function runTests(t: TestContext, source: string, runner: string, settings: NodeJS.ProcessEnv = {}) {
  const folder = mkdtempSync(join(tmpdir(), "orch-reporter-"));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(
    join(folder, "x.test.mjs"),
    `import { createServer } from "node:net";
import { Worker } from "node:worker_threads";
import { before, describe, test } from "node:test";
${source}
`,
  );
  // The results of this suite are noted in another file, which these must not reach.
  const notes = join(folder, "notes");
  writeFileSync(notes, "");
  const env: NodeJS.ProcessEnv = { ...process.env, ...settings, ORCH_TEST_RESULTS: notes };
  delete env["NODE_TEST_CONTEXT"];
  const { status } = spawnSync(process.execPath, [...runners[runner]!, "x.test.mjs"], { cwd: folder, env });
  const results = readFileSync(notes, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as { result?: string; name: string; reason?: string })
    .filter(({ result }) => result)
    .map((line) => `${line.result} ${line.name}${line.reason ? `: ${line.reason}` : ""}`);
  return { status, results };
}
