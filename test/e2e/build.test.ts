// The build in a copy of the package with one small program: it builds only when needed.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";

const root = join(import.meta.dirname, "..", "..");
let copy = "";
const write = (file: string, text: string): void => {
  mkdirSync(join(copy, file, ".."), { recursive: true });
  writeFileSync(join(copy, file), text);
};
const run = (
  command: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): { status: number | null; stdout: string; stderr: string } =>
  spawnSync(command, args, {
    cwd: copy,
    encoding: "utf8",
    timeout: 240_000,
    env: { ...process.env, ...env },
  });
const build = () => run(process.execPath, ["scripts/build.mjs"]);

before(() => {
  copy = realpathSync(mkdtempSync(join(tmpdir(), "orch-build-")));
  for (const part of [
    "bin",
    "scripts",
    "package.json",
    "package-lock.json",
    "tsconfig.json",
    "tsconfig.build.json",
  ])
    cpSync(join(root, part), join(copy, part), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  write("src/base/index.ts", `export { word } from "./word.ts";\n`);
  write("src/base/word.ts", `export const word: string = "hello";\n`);
  write("src/bin/orch.ts", `import { word } from "#base";\nconsole.log(word, ...process.argv.slice(2));\n`);
});
after(() => rmSync(copy, { recursive: true }));

test("a launcher builds an unbuilt program, and reports it on stderr only", () => {
  const { status, stdout, stderr } = run("bin/orch", ["x"]);
  assert.deepEqual({ status, stdout, stderr }, { status: 0, stdout: "hello x\n", stderr: "Building…\n" });
});

test("a second build does nothing", () => {
  const { status, stdout, stderr } = build();
  assert.deepEqual({ status, stdout, stderr }, { status: 0, stdout: "", stderr: "" });
});

test("the API server runs as one script, whose compiled code is cached and used by the next run", () => {
  write(
    "src/bin/orch-apiserver.ts",
    `import { word } from "#base";
const strict = (function (this: unknown) { return this === undefined; })();
const escape = Reflect.get(globalThis, "escape") as unknown;
void import("#base").then((base) => console.log(base.word === word && word, strict, typeof escape, import.meta.url));
`,
  );
  build();
  const kept = (): string[] => readdirSync(join(copy, "dist/pack")).filter((name) => name.endsWith(".cache"));
  const greeting = `hello true function ${pathToFileURL(join(copy, "dist/pack/orch-apiserver.js")).href}\n`;
  const server = (...args: readonly string[]): string => run("bin/orch-apiserver", args).stdout;
  assert.equal(server("--version"), greeting);
  assert.deepEqual(kept(), [], "printing the version does not cache any compiled code");
  for (let round = 0; round < 2; round++) assert.equal(server(), greeting);
  assert.equal(kept().length, 1);
  writeFileSync(join(copy, "dist/pack", kept()[0]!), "not a V8 code cache");
  assert.equal(server(), greeting);
});

test("compiled code is cached before an idle program changes V8's flags, which would invalidate the cache", () => {
  write(
    "src/bin/orch-apiserver.ts",
    `import { setFlagsFromString } from "node:v8";
process.emit("orch:started" as never);
setTimeout(() => setFlagsFromString("--expose-gc"), 1500);
`,
  );
  build();
  const pack = join(copy, "dist/pack");
  const writtenAt = (): number[] =>
    readdirSync(pack)
      .filter((name) => name.endsWith(".cache"))
      .map((name) => statSync(join(pack, name)).mtimeMs);
  run("bin/orch-apiserver");
  const first = writtenAt();
  assert.equal(first.length, 1);
  run("bin/orch-apiserver");
  assert.deepEqual(writtenAt(), first, "the second run used the cache, and therefore wrote none");
});

test("the library runs as two scripts that share modules, whose compiled code the build caches", () => {
  write(
    "src/client/index.ts",
    `export class ApiError extends Error {}\nexport const { kinds } = { kinds: { configMaps: "maps" } };\nexport const spread = ["a"];\n`,
  );
  write("src/client/later.ts", `export const later = "later";\n`);
  // The build uses a server once; this one answers as a real one does.
  write(
    "src/apiserver/index.ts",
    `import { ApiError, kinds, spread } from "../client/index.ts";
export { kinds };
export async function startServer(): Promise<unknown> {
  const done = async () => ({});
  const client = { of: () => ({
    ...{ create: done, get: done, update: done, patch: done, delete: done },
    pages: async function* () {},
    watch: async function* () { yield { type: "DELETED" }; },
  }) };
  const { later } = await import("../client/later.ts");
  return { client, stop: done, later: [later, ...spread], error: new ApiError(), at: import.meta.url, strict: (function (this: unknown) { return this === undefined; })() };
}
`,
  );
  assert.equal(build().stderr, "Building…\n");
  const caches = (): (readonly [string, number])[] =>
    readdirSync(join(copy, "dist/pack"))
      .filter((name) => /^(client|apiserver)-.*\.cache$/.test(name))
      .map((name) => [name, statSync(join(copy, "dist/pack", name)).mtimeMs]);
  const built = caches();
  assert.equal(built.length, 2);
  const program = `
    import { startServer, kinds } from "orch/apiserver";
    import { ApiError, kinds as same } from "orch/client";
    const { later, error, at, strict } = await startServer();
    console.log(later.join(), error instanceof ApiError, kinds === same, at, strict, "ApiError" in globalThis);`;
  const use = (): string => run(process.execPath, ["--input-type=module", "--eval", program]).stdout;
  const at = pathToFileURL(join(copy, "dist/pack/apiserver.js")).href;
  assert.equal(use(), `later,a true true ${at} true false\n`);
  assert.deepEqual(caches(), built, "the caches were used, and therefore not written again");
  for (const [name] of built) rmSync(join(copy, "dist/pack", name));
  assert.equal(use(), `later,a true true ${at} true false\n`);
  assert.equal(caches().length, 2, "a run without caches writes them at its end");
});

test("the library does not export variables, whose changes its other script would not see", () => {
  rmSync(join(copy, "src/apiserver"), { recursive: true });
  write(
    "src/client/index.ts",
    `export let changing = 1;\nexport const change = (): void => void changing++;\n`,
  );
  const { status, stderr } = build();
  rmSync(join(copy, "src/client"), { recursive: true });
  assert.equal(status, 1);
  assert.match(stderr, /dist\/client\/index\.js: exports a variable/);
  assert.equal(build().status, 0);
});

test("npm start builds what changed and runs `orch up`", () => {
  write("src/base/word.ts", `export const word: string = "changed";\n`);
  const { status, stdout, stderr } = run(process.execPath, ["scripts/start.mjs", "--flag"]);
  assert.deepEqual(
    { status, stdout, stderr },
    { status: 0, stdout: "changed up --flag\n", stderr: "Building…\n" },
  );
});

test("the build records its source: unknown, a commit, or a commit with changes", () => {
  const origin = (): { commit?: string; tree?: string; date?: string } => {
    build();
    return JSON.parse(readFileSync(join(copy, "dist/build.json"), "utf8")) as object;
  };
  assert.deepEqual(origin(), {});
  const git = (...args: string[]): string =>
    run("git", [
      "-c",
      "user.name=a",
      "-c",
      "user.email=a@b",
      "-c",
      "commit.gpgsign=false",
      ...args,
    ]).stdout.trim();
  git("init", "-q");
  git("add", "src", "package.json", "package-lock.json");
  git("commit", "-q", "-m", "x", "--date=2030-01-02T03:04:05Z");
  const commit = git("rev-parse", "HEAD");
  const date = new Date(Number(git("log", "-1", "--format=%ct")) * 1000).toISOString().replace(".000", "");
  assert.deepEqual(origin(), { commit, tree: "clean", date });
  write("src/base/word.ts", `export const word: string = "changed again";\n`);
  assert.deepEqual(origin(), { commit, tree: "dirty", date });
  rmSync(join(copy, ".git"), { recursive: true });
  write("src/base/word.ts", `export const word: string = "changed";\n`);
});

test("tests are not built, and outputs without a source are removed", () => {
  write("src/base/word.test.ts", "export {};\n");
  write("src/base/gone.ts", "export {};\n");
  build();
  assert.deepEqual(
    ["gone.js", "word.test.js"].map((name) => existsSync(join(copy, "dist/base", name))),
    [true, false],
  );
  rmSync(join(copy, "src/base/gone.ts"));
  build();
  assert.equal(existsSync(join(copy, "dist/base/gone.js")), false);
});

test("a deleted output is built again", () => {
  rmSync(join(copy, "dist/base/word.js"));
  rmSync(join(copy, "dist/.stamp"));
  assert.equal(build().status, 0);
  assert.equal(existsSync(join(copy, "dist/base/word.js")), true);
});

test("a program is packed into one file, with its workers next to it", () => {
  write(
    "src/base/echo-worker.ts",
    `import { parentPort } from "node:worker_threads";\nimport { word } from "./word.ts";\nparentPort!.postMessage(word);\n`,
  );
  write(
    "src/base/echo.ts",
    `import { Worker } from "node:worker_threads";\nexport const echo = (): void => void new Worker(new URL("./echo-worker.js", import.meta.url)).on("message", (text) => console.log("echo", text));\n`,
  );
  write("src/base/index.ts", `export { echo } from "./echo.ts";\nexport { word } from "./word.ts";\n`);
  write("src/bin/orch.ts", `import { echo } from "#base";\necho();\n`);
  assert.deepEqual(build().status, 0);
  assert.doesNotMatch(readFileSync(join(copy, "dist/pack/orch.js"), "utf8"), /"#base"/);
  assert.equal(run("bin/orch").stdout, "echo changed\n");
  write("src/base/word.ts", `export const word: string = "again";\n`);
  assert.equal(build().status, 0);
  assert.equal(run("bin/orch").stdout, "echo again\n");
});

test("packed programs import only the used names of built-in modules, whatever the form of the import", () => {
  const names = `{\n  availableParallelism as cores,\n  hostname,\n  platform,\n  totalmem,\n  freemem,\n  uptime,\n  loadavg,\n  networkInterfaces as interfaces,\n}`;
  write(
    "src/bin/orch.ts",
    `import ${names} from "node:os";\nimport path from "node:path";\nimport * as util from "node:util";\nconsole.log([cores, hostname, platform, totalmem, freemem, uptime, loadavg, interfaces].map((item) => typeof item).join(), path.sep, util.format("%s", 1));\nthrow new Error("where");\n`,
  );
  assert.equal(build().status, 0);
  assert.doesNotMatch(readFileSync(join(copy, "dist/pack/orch.js"), "utf8"), /\bimport\b.*"node:/);
  const { stdout, stderr } = run(process.execPath, ["--enable-source-maps", "bin/orch"]);
  assert.equal(stdout, `${Array(8).fill("function").join()} / 1\n`);
  assert.match(stderr, /orch\.ts:14:7/, "source maps are still correct");
});

test("a type error fails the build, and the next build tries again", () => {
  write("src/base/word.ts", `export const word: string = 1;\n`);
  for (let attempt = 0; attempt < 2; attempt++) {
    const { status, stdout } = build();
    assert.equal(status, 1);
    assert.match(stdout, /src\/base\/word\.ts.*TS2322/);
  }
});
