// Replays recorded behaviour against our programs in both dialects, if the recording exists (../shared/reference or
// ORCH_REFERENCE). The numbers of matches must not fall below .ci/replay-floor.json.
//   node scripts/replay.mjs [--raise] [orch|kubernetes] [--part NAME] [replay options such as --only events]
// With --part only jobs whose name contains NAME run. With replay options only scenarios run, one dialect after the
// other, with their full output.
import { spawn, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { jobsToRunAgain, judge, mergeOutcomes, raised, sumOf } from "./replay/floors.mjs";
import { jobsOf, scenarioJob } from "./replay/jobs.mjs";
import { portRange } from "./replay/ports.mjs";
import { runJobs } from "./replay/run-jobs.mjs";
import { build, fail, root } from "./setup.mjs";

const seconds = 8 * 60;
const jobSeconds = 5 * 60;
const againSeconds = 4 * 60;
// Jobs mostly wait; more of them at once would delay each other.
const jobsAtOnce = 10;
const floorFile = join(root, ".ci", "replay-floor.json");
const reference = resolve(root, process.env.ORCH_REFERENCE ?? "../shared/reference");
const args = process.argv.slice(2);
const raise = args.includes("--raise");
const partAt = args.indexOf("--part");
const part = partAt < 0 ? undefined : args[partAt + 1];
const dialects = args.filter((arg) => arg === "orch" || arg === "kubernetes");
const chosen = dialects.length ? dialects : ["orch", "kubernetes"];
const options = args.filter(
  (arg, at) =>
    arg !== "--raise" && !dialects.includes(arg) && (partAt < 0 || (at !== partAt && at !== partAt + 1)),
);

if (!existsSync(join(reference, "check.sh"))) {
  console.log("replay: left out, there is no recording beside this repository");
  process.exit(0);
}
if (!(await build())) {
  if (raise) fail("could not be built; see above");
  console.error("The build failed: this is the replay of what was there before.");
}
const floor = JSON.parse(readFileSync(floorFile, "utf8"));
for (const [area, why] of Object.entries(floor.leftOut)) console.log(`replay: ${area} is left out: ${why}`);
const areas = readdirSync(join(reference, "visible")).filter((area) => !(area in floor.leftOut));

// The checkers write keys into their own folder, so they run in a copy. They also translate product names in flags, so
// the folder's path must not contain any.
const work = mkdtempSync(join(tmpdir(), "recording-"));
const recording = join(work, "recording");
const logs = join(root, "build");
mkdirSync(logs, { recursive: true });
const run = (program, ...rest) => spawnSync(program, rest, { cwd: recording, stdio: "inherit" });
spawnSync("cp", ["-r", "--no-preserve=mode", reference, recording], { stdio: "inherit" });
run("sh", "server/pki.sh");
if (existsSync(join(recording, "server/pki-more.sh"))) run("sh", "server/pki-more.sh");
const store = await startStore();
const settings = { recording, logs, seconds, jobSeconds };
try {
  if (options.length)
    await runJobs(
      chosen.map((dialect) => scenarioJob(dialect, options)),
      { ...settings, atOnce: 1, echo: true },
    );
  else await replayAll();
} finally {
  store?.stop();
  rmSync(work, { recursive: true, force: true, maxRetries: 5 });
}

async function replayAll() {
  const all = jobsOf({ recording, dialects: chosen, areas, store: store?.url });
  const jobs = all.filter(({ name }) => part === undefined || name.includes(part));
  const first = await runJobs(jobs, { ...settings, atOnce: jobsAtOnce });
  const again = part === undefined ? jobsToRunAgain(first, floor.floors) : [];
  if (again.length) console.log(`replay: once more, alone: ${again.map(({ name }) => name).join("; ")}`);
  const second = await runJobs(again, { ...settings, seconds: againSeconds, atOnce: 1 });
  const outcomes = mergeOutcomes(first, second);
  const counts = sumOf(outcomes);
  for (const [name, { matching, all: of }] of Object.entries(counts))
    console.log(`replay ${name}: ${matching} of ${of} match (floor ${floor.floors[name] ?? 0})`);
  for (const { job, late } of outcomes)
    if (late) console.log(`replay: ended before it was done: ${job.name}: ${late}`);
  if (part !== undefined) return;
  const { below, above } = judge(counts, floor.floors);
  if (above.length && raise) {
    const floors = raised(counts, floor.floors);
    writeFileSync(floorFile, `${JSON.stringify({ ...floor, floors }, null, 2)}\n`);
    console.log("replay: the floors are raised; commit .ci/replay-floor.json");
  } else if (above.length) console.log("replay: floors could be raised: node scripts/replay.mjs --raise");
  if (below.length) console.error(`replay: fewer match than before: ${below.join(", ")}; see build/`);
  if (below.length) process.exitCode = 1;
}

/** Starts an etcd for the shutdown cases; undefined if etcd is not installed. */
async function startStore() {
  const [client, peer] = (await portRange().then((port) => [port, port + 1])).map(
    (port) => `http://127.0.0.1:${port}`,
  );
  const child = spawn(
    "etcd",
    [
      "--data-dir",
      join(work, "store"),
      "--log-level",
      "error",
      "--listen-client-urls",
      client,
      "--advertise-client-urls",
      client,
      "--listen-peer-urls",
      peer,
      "--initial-advertise-peer-urls",
      peer,
      "--initial-cluster",
      `default=${peer}`,
    ],
    { stdio: "ignore", env: { ...process.env, ETCD_UNSUPPORTED_ARCH: process.arch } },
  );
  const started = await new Promise((done) => {
    child.once("spawn", () => done(true));
    child.once("error", () => done(false));
  });
  return started ? { url: client, stop: () => child.kill("SIGKILL") } : undefined;
}
