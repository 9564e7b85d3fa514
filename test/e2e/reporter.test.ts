// The reporter behind `npm test`, on small generated test files.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";

const reporter = new URL("../../scripts/reporter.mjs", import.meta.url).href;
const runSuite = new URL("../../scripts/run-suite.mjs", import.meta.url).href;
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

const leaks: [what: string, source: string, expected: RegExp][] = [
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
for (const [what, source, wanted] of leaks) {
  test(`${what} that a test leaves behind is a failure that names it`, (t) => {
    const { status, results } = runTests(t, source, "in one process", { ORCH_TEST_LEAK_MS: "200" });
    assert.equal(status, 1);
    assert.equal(results[0], "passed a");
    assert.match(results[1]!.replace("failed handles were left open by tests: ", ""), wanted);
  });
}

const hanging = `
  test("hangs", () => new Promise(() => void createServer().listen(0, "127.0.0.1")));
  describe("g", () => {
    before(() => new Promise(() => {}));
    test("hangs before", () => {});
  });
  test("comes after", () => {});`;
for (const inOne of [true, false]) {
  const how = inOne ? "in one process" : "a process each";
  test(`a test that hangs fails by its name, and only its file: ${how}`, (t) => {
    const file = testFile(t, hanging);
    const suite = { name: "some", files: [file], args: [], inOneProcess: inOne, testSeconds: 0.3 };
    const program = `import { runSuite } from ${JSON.stringify(runSuite)};
      const found = await runSuite(${JSON.stringify({ ...suite, minutes: 1, leakMilliseconds: 200 })});
      console.error(JSON.stringify(found));`;
    const { stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", program], {
      encoding: "utf8",
      env: withoutContext(),
    });
    const found = JSON.parse(stderr.trim().split("\n").at(-1)!) as {
      result: string;
      name: string;
      file: string;
    }[];
    const reported = found.map(({ result, name }) => `${result} ${name.replace(/:.*/, "")}`);
    const leak = "failed handles were left open by tests";
    assert.deepEqual(reported, [
      "failed hangs",
      "failed g › hangs before",
      "failed g",
      "passed comes after",
      ...(inOne ? [leak] : []),
    ]);
    assert.deepEqual(
      found.filter((each) => basename(each.file) !== basename(file)),
      [],
    );
  });
}

test("an uncaught error is a failure, reported with the test that began last, and fails that test", (t) => {
  const rejecting = `test("a", async () => {
    void Promise.reject(new Error("lost"));
    await new Promise((resolve) => setTimeout(resolve, 10));
  });`;
  const { status, results } = runTests(t, rejecting, "in one process");
  assert.deepEqual([status, results], [1, ["failed uncaught error: lost", "failed a"]]);
});

test("a hook passed to after() within a test runs when that test ends, and is then released", (t) => {
  const source = `
    let stopped = false;
    let held;
    test("a", async () => {
      await new Promise((resolve) => setTimeout(resolve, 1));
      const server = { stop: () => (stopped = true) };
      held = new WeakRef(server);
      after(() => server.stop());
    });
    test("b", () => assert.ok(stopped));
    test("c", async () => {
      // What a WeakRef was made for is kept until the event loop turns.
      await new Promise((resolve) => setTimeout(resolve, 1));
      setFlagsFromString("--expose-gc");
      runInNewContext("gc")();
      assert.equal(held.deref(), undefined);
    });`;
  const { results } = runTests(t, source, "in one process");
  assert.deepEqual(results, ["passed a", "passed b", "passed c"]);
});

test("beforeEach and afterEach hooks run for every test", (t) => {
  const source = `
    const ran = [];
    describe("g", () => {
      beforeEach((t) => ran.push(t.name));
      test("a", (t) => t.test("inner", () => {}));
      test("b", () => {});
    });
    test("c", () => assert.deepEqual(ran, ["a", "inner", "b"]));`;
  const { results } = runTests(t, source, "in one process");
  assert.deepEqual(results, ["passed g › a › inner", "passed g › a", "passed g › b", "passed c"]);
});

/** Writes a test file that is removed when the test ends. */
function testFile(t: TestContext, source: string): string {
  const folder = mkdtempSync(join(tmpdir(), "orch-reporter-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "x.test.mjs");
  writeFileSync(
    file,
    `import assert from "node:assert/strict";
import { createServer } from "node:net";
import { after, before, beforeEach, describe, test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Worker } from "node:worker_threads";
${source}
`,
  );
  return file;
}

/** Returns the environment of a process outside of this test run. */
function withoutContext(): NodeJS.ProcessEnv {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  return env;
}

/** Runs one test file under the reporter; returns its exit code and the recorded results. */
function runTests(t: TestContext, source: string, runner: string, settings: NodeJS.ProcessEnv = {}) {
  const folder = dirname(testFile(t, source));
  // The results of this suite are recorded in another file, which these runs must not write to.
  const notes = join(folder, "notes");
  writeFileSync(notes, "");
  const env = { ...withoutContext(), ...settings, ORCH_TEST_RESULTS: notes };
  const { status } = spawnSync(process.execPath, [...runners[runner]!, "x.test.mjs"], { cwd: folder, env });
  const results = readFileSync(notes, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as { result?: string; name: string; reason?: string })
    .filter(({ result }) => result)
    .map((line) => `${line.result} ${line.name}${line.reason ? `: ${line.reason}` : ""}`);
  return { status, results };
}
