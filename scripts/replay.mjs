// Replays the recorded behaviour of the reference against bin/orch-apiserver in both dialects, where the
// recording exists (../shared/reference or ORCH_REFERENCE), and holds the number of matching steps against
// .ci/replay-floor.json.
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
const work = mkdtempSync(join(tmpdir(), "orch-replay-"));
spawnSync("cp", ["-r", "--no-preserve=mode", `${reference}/.`, work], { stdio: "inherit" });
spawnSync("sh", ["server/pki.sh"], { cwd: work, stdio: "inherit" });
const found = {};
const chosen = dialects.length ? dialects : ["orch", "kubernetes"];
// Whole runs mostly wait, so both dialects run at once; what is looked at runs one after the other.
if (options.length) for (const dialect of chosen) found[dialect] = await replay(dialect);
else await Promise.all(chosen.map(async (dialect) => (found[dialect] = await replay(dialect))));
rmSync(work, { recursive: true, force: true });
if (options.length === 0) judge();

async function replay(dialect) {
  const log = join(root, "build", `replay-${dialect}.log`);
  mkdirSync(join(root, "build"), { recursive: true });
  const port = await freePort();
  const env = { SKIP_EXTRA: "1", ...process.env, PORT: String(port) };
  const child = spawn(
    "bash",
    ["check.sh", join(root, "bin", "orch-apiserver"), dialect, ...(options.length ? options : whole)],
    { cwd: work, env, detached: true },
  );
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
  const sums = [...text.matchAll(/^(\d+) of (\d+) steps match/gm)];
  const total = (place) => sums.reduce((sum, match) => sum + Number(match[place]), 0);
  console.log(
    `replay ${dialect}: ${total(1)} of ${total(2)} steps match (floor ${floor[dialect]}; details in build/replay-${dialect}.log)`,
  );
  return total(1);
}

function judge() {
  const below = Object.keys(found).filter((dialect) => found[dialect] < floor[dialect]);
  const above = Object.keys(found).filter((dialect) => found[dialect] > floor[dialect]);
  if (above.length && raise) {
    writeFileSync(
      floorFile,
      `${JSON.stringify({ ...floor, ...Object.fromEntries(above.map((dialect) => [dialect, found[dialect]])) }, null, 2)}\n`,
    );
    console.log("replay: the floor is raised; commit .ci/replay-floor.json");
  } else if (above.length) console.log("replay: the floor could be raised: node scripts/replay.mjs --raise");
  if (below.length) fail(`replay: fewer steps match than before in ${below.join(" and ")}; see build/`);
}

function freePort() {
  return new Promise((done) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => done(port));
    });
  });
}
