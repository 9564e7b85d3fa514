// Setup shared by all commands: the packages of the lock file and an up-to-date build. Runs on Node 20 with nothing
// installed.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { installPackages, mayInstall } from "./system-packages.mjs";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, "dist");
const stamp = join(dist, ".stamp");

const launcher = createRequire(import.meta.url)("../bin/launch.js");

/** Returns the Node that runs our code: the pinned one, otherwise a sufficiently new system Node. */
export const runtime = () => launcher.findRuntime();

/** Runs a program attached to our terminal; returns whether it succeeded. */
export function run(program, args, { env = process.env, quiet = false } = {}) {
  const { status, error, stdout, stderr } = spawnSync(program, args, {
    cwd: root,
    env,
    stdio: quiet ? "pipe" : "inherit",
    encoding: "utf8",
    maxBuffer: 64 << 20,
  });
  if (error) console.error(`cannot run ${program}: ${error.message}`);
  if (quiet && status !== 0) process.stdout.write(`${stdout ?? ""}${stderr ?? ""}`);
  return status === 0;
}

/** Runs a program from node_modules/.bin. */
export const runTool = (name, args, options) =>
  run(runtime(), [join(root, "node_modules", ".bin", name), ...args], options);

/**
 * Installs the packages of the lock file unless they are present, and the system library that the pinned Node needs
 * if this process may.
 */
export async function install({ dev = true } = {}) {
  if (installed(dev) && !launcher.missingPackage()) return;
  await withLock("install", () => {
    if (!installed(dev)) installModules(dev);
    const missing = launcher.missingPackage();
    if (!missing || (mayInstall() && installPackages([missing]))) return;
    // Otherwise `npm run` would start the pinned Node, which cannot run, instead of the system Node.
    rmSync(join(root, "node_modules", ".bin", "node"), { force: true });
  });
}

function installModules(dev) {
  console.error("Installing packages…");
  const npm =
    process.env.npm_execpath && existsSync(process.env.npm_execpath)
      ? [process.execPath, process.env.npm_execpath]
      : ["npm"];
  if (
    !run(npm[0], [
      ...npm.slice(1),
      "ci",
      "--ignore-scripts",
      "--loglevel=error",
      "--no-audit",
      "--no-fund",
      ...(dev ? [] : ["--omit=dev"]),
    ])
  )
    fail("could not install the packages; see above");
}

/**
 * Compiles src/ to dist/ unless nothing changed, and installs the packages needed for that. Returns whether it
 * succeeded; prints compiler errors.
 */
export async function build() {
  const want = sourceHash();
  if (isBuiltFrom(want)) {
    noteOrigin();
    await install({ dev: false });
    return true;
  }
  await install();
  return await withLock("build", async () => {
    if (isBuiltFrom(want)) return true;
    console.error("Building…");
    rmSync(stamp, { force: true });
    removeStale();
    const typed = runTool("tsc", ["-p", "tsconfig.build.json"]);
    const packed = await tryPack();
    noteOrigin();
    if (typed && packed) writeFileSync(stamp, want);
    return typed && packed;
  });
}

export function fail(message) {
  console.error(message);
  process.exit(1);
}

/** Returns all files below a folder as sorted paths relative to the package; empty if the folder does not exist. */
export function filesUnder(folder, suffix = "") {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(suffix))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(root.length + 1))
    .sort();
}

export const isBuilt = (file) =>
  (file.endsWith(".ts") || isPage(file)) && !/\.(test|contract|fixture)\.ts$/.test(file);

/** The page is bundled from its sources; the compiler only checks it. */
const isPage = (file) => file.startsWith("src/ui/");

// npm records what it installed; missing optional packages are those of other platforms.
function installed(dev) {
  const record = join(root, "node_modules", ".package-lock.json");
  if (!existsSync(record)) return false;
  const want = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")).packages;
  const have = JSON.parse(readFileSync(record, "utf8")).packages;
  return Object.entries(want).every(
    ([path, { version, optional, dev: onlyDev }]) =>
      !path || have[path]?.version === version || (!have[path] && (optional || (onlyDev && !dev))),
  );
}

const isBuiltFrom = (hash) => existsSync(stamp) && readFileSync(stamp, "utf8") === hash;

function sourceHash() {
  const hash = createHash("sha256");
  for (const file of [
    "package-lock.json",
    "tsconfig.json",
    "tsconfig.build.json",
    ...filesUnder("src").filter(isBuilt),
  ])
    hash.update(`${file}\0`).update(readFileSync(join(root, file)));
  return hash.digest("hex");
}

// The data of /version: the commit, whether the sources differ from it, and its time (the build time would make two
// builds of one commit differ). It is written to a file next to the build, so that a new commit does not require a
// new build. Without a git history the programs report an unknown commit.
function noteOrigin() {
  const file = join(dist, "build.json");
  const git = (...args) => spawnSync("git", args, { cwd: root, encoding: "utf8" }).stdout?.trim() ?? "";
  const [commit, seconds] = existsSync(join(root, ".git"))
    ? git("log", "-1", "--format=%H %ct").split(" ")
    : [];
  const tree = () =>
    git("status", "--porcelain", "--", "src", "package.json", "package-lock.json") === "" ? "clean" : "dirty";
  const origin = seconds
    ? { commit, tree: tree(), date: new Date(seconds * 1000).toISOString().replace(/\.000Z$/, "Z") }
    : {};
  const text = `${JSON.stringify(origin)}\n`;
  if (existsSync(file) && readFileSync(file, "utf8") === text) return;
  const fresh = `${file}.${process.pid}`;
  writeFileSync(fresh, text);
  renameSync(fresh, file);
}

// Removes outputs of deleted sources. If an output is missing, the compiler's incremental state is discarded.
function removeStale() {
  const sources = new Set(
    filesUnder("src")
      .filter((file) => isBuilt(file) && !isPage(file))
      .map((file) => file.slice("src/".length, -".ts".length)),
  );
  const outputs = new Set();
  for (const file of filesUnder("dist")) {
    const name = /^dist\/(?!pack\/)(.*?)(\.d\.ts|\.js\.map|\.js)$/.exec(file);
    if (name && !sources.has(name[1])) rmSync(join(root, file));
    else if (name?.[2] === ".js") outputs.add(name[1]);
  }
  if ([...sources].some((source) => !outputs.has(source)))
    rmSync(join(dist, ".tsbuildinfo"), { force: true });
}

async function tryPack() {
  try {
    await (await import("./pack.mjs")).pack();
    (await import("./help-texts.mjs")).writeHelpTexts();
    return true;
  } catch (error) {
    console.error(error.message);
    return false;
  }
}

// Only one process at a time installs or builds; the lock of a dead process is taken over.
async function withLock(name, work) {
  const lock = join(dist, `.${name}.lock`);
  mkdirSync(dist, { recursive: true });
  for (let waited = 0; ; waited++) {
    try {
      writeFileSync(lock, String(process.pid), { flag: "wx" });
      break;
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
      if (!alive(lock)) rmSync(lock, { force: true });
      else if (waited === 0) console.error(`Waiting for another process to ${name}…`);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
    }
  }
  try {
    return await work();
  } finally {
    rmSync(lock, { force: true });
  }
}

function alive(lock) {
  try {
    if (Date.now() - statSync(lock).mtimeMs > 15 * 60_000) return false;
    process.kill(Number(readFileSync(lock, "utf8")) || process.pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}
