// Replays recorded behaviour against bin/orch-apiserver in both dialects, where the recording exists
// (../shared/reference or ORCH_REFERENCE): scenarios, command lines and servers with special settings. The
// number of matches is held against .ci/replay-floor.json.
//   node scripts/replay.mjs [--raise] [orch|kubernetes] [replay options such as --only events]
import { spawn, spawnSync } from "node:child_process";
import {
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { build, fail, root } from "./setup.mjs";

const minutes = 8;
const floorFile = join(root, ".ci", "replay-floor.json");
const reference = resolve(root, process.env.ORCH_REFERENCE ?? "../shared/reference");
const args = process.argv.slice(2);
const raise = args.includes("--raise");
const dialects = args.filter((arg) => arg === "orch" || arg === "kubernetes");
const options = args.filter((arg) => arg !== "--raise" && !dialects.includes(arg));

if (!existsSync(join(reference, "check.sh"))) {
  console.log("replay: left out, there is no recording beside this repository");
  process.exit(0);
}
if (!(await build())) {
  if (raise) fail("could not be built; see above");
  console.error("The build failed: this is the replay of what was there before.");
}
const floor = JSON.parse(readFileSync(floorFile, "utf8"));
// Areas that need what we do not serve yet only cost time; the floor file names them and why.
const areas = readdirSync(join(reference, "visible")).filter((area) => !(area in floor.leftOut));
const whole = ["--quiet", "--only", areas.join(",")];
for (const [area, why] of Object.entries(floor.leftOut)) console.log(`replay: ${area} is left out: ${why}`);
// The recording makes keys beside itself, so it runs in a copy; whole runs only are held against the floor.
// Checkers translate product names in flags, so the folder has none.
const work = mkdtempSync(join(tmpdir(), "recording-"));
spawnSync("cp", ["-r", "--no-preserve=mode", `${reference}/.`, work], { stdio: "inherit" });
spawnSync("sh", ["server/pki.sh"], { cwd: work, stdio: "inherit" });
const chosen = dialects.length ? dialects : ["orch", "kubernetes"];
const bin = join(root, "bin", "orch-apiserver");
const logs = join(root, "build");
mkdirSync(logs, { recursive: true });

if (options.length) {
  // What somebody looks at runs one dialect after the other, and is held against no floor.
  for (const dialect of chosen) await visible(dialect, options);
} else {
  const counts = {};
  // Whole runs mostly wait, so both dialects run at once.
  await Promise.all(
    chosen.map(async (dialect) => {
      counts[`visible ${dialect}`] = await visible(dialect, whole);
      counts[`flags ${dialect}`] = await check("flags", dialect, ["flags.mjs", "check"]);
      counts[`setups ${dialect}`] = await setups(dialect);
    }),
  );
  judge(counts);
}
rmSync(work, { recursive: true, force: true });

/** The scenarios of all profiles, each against a fresh server. */
async function visible(dialect, args) {
  const env = { SKIP_EXTRA: "1", PORT: String(await freePort()) };
  return await run(
    `visible ${dialect}`,
    "bash",
    ["check.sh", bin, dialect, ...args],
    env,
    /^(\d+) of (\d+) steps match/gm,
  );
}

/** Scenarios that bring flags and files of their own. */
async function setups(dialect) {
  const port = String(await freePort());
  return await check("setups", dialect, [
    "setups.mjs",
    "check",
    "--dialect",
    dialect,
    "--port",
    port,
    "--quiet",
    "setups",
  ]);
}

async function check(name, dialect, [script, ...args]) {
  const command = [script, args[0], "--bin", `${bin} --dialect ${dialect}`, ...args.slice(1)];
  return await run(
    `${name} ${dialect}`,
    process.execPath,
    command,
    {},
    /^(\d+) of (\d+) (?:setup steps|flag cases) match/gm,
  );
}

/** Runs one checker in the copy of the recording; the number of what matches. */
async function run(name, program, args, env, pattern) {
  const log = join(logs, `replay-${name.replace(" ", "-")}.log`);
  // Scripted backends have fixed ports: each dialect has its own.
  const shift = name.endsWith("kubernetes") ? "200" : "0";
  const child = spawn(program, args, {
    cwd: work,
    env: { ...process.env, BACKEND_PORT_SHIFT: shift, ...env },
    detached: true,
  });
  const timer = setTimeout(() => process.kill(-child.pid, "SIGKILL"), minutes * 60_000);
  const copy = createWriteStream(log);
  let text = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk) => {
      text += chunk;
      copy.write(chunk);
      if (options.length) process.stdout.write(chunk);
    });
  }
  await new Promise((done) => child.on("close", done));
  clearTimeout(timer);
  copy.end();
  const sums = [...text.matchAll(pattern)];
  const total = (place) => sums.reduce((sum, match) => sum + Number(match[place]), 0);
  console.log(
    `replay ${name}: ${total(1)} of ${total(2)} match (floor ${floor.floors[name] ?? 0}; details in build/)`,
  );
  return total(1);
}

function judge(counts) {
  const names = Object.keys(counts);
  const below = names.filter((name) => counts[name] < (floor.floors[name] ?? 0));
  const above = names.filter((name) => counts[name] > (floor.floors[name] ?? 0));
  if (above.length && raise) {
    const floors = { ...floor.floors, ...Object.fromEntries(above.map((name) => [name, counts[name]])) };
    writeFileSync(floorFile, `${JSON.stringify({ ...floor, floors }, null, 2)}\n`);
    console.log("replay: the floors are raised; commit .ci/replay-floor.json");
  } else if (above.length) console.log("replay: floors could be raised: node scripts/replay.mjs --raise");
  if (below.length) fail(`replay: fewer match than before: ${below.join(", ")}; see build/`);
}

function freePort() {
  return new Promise((done) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => done(port));
    });
  });
}
