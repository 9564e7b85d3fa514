// Where the main thread's time goes in each operation of the cost table: runs the work of the API server's bench against
// a server that is being profiled, and prints the functions that take most. With --out=FOLDER it draws flame graphs.
//
//   npm run bench -- flame-graphs [--objects=4000] [--out=docs/flame-graphs]
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { dialects, groupName } from "#dialect";
import { startApiserver } from "../test/kit/apiserver.ts";
import { type CpuProfile, flameGraph, frameTree, selfShares } from "./kit/flame-graph.ts";

const given = new Map<string, string>(
  process.argv
    .slice(2)
    .map((argument) => [argument.replace(/^--|=.*$/g, ""), argument.slice(argument.indexOf("=") + 1)]),
);
const objects = given.get("objects") ?? "4000";
const out = given.get("out");
const shown = 6;

interface Step {
  readonly step: string;
  readonly operations: number;
  readonly microsPerOperation: number;
  /** Of the monotonic clock, in microseconds. */
  readonly began: number;
  readonly ended: number;
}

const folder = mkdtempSync(join(tmpdir(), "flame-graphs-"));
try {
  process.env["NODE_OPTIONS"] = `--cpu-prof --cpu-prof-dir=${folder} --cpu-prof-interval=250`;
  const server = await startApiserver({ readyWithinSeconds: 300 });
  delete process.env["NODE_OPTIONS"];
  const script = join(import.meta.dirname, "kit", "apiserver-load.ts");
  const group = groupName(dialects.orch, { group: "events", branded: true });
  const load = [
    "--conditions=orch-source",
    script,
    server.url,
    String(server.pid),
    server.token,
    group,
    objects,
  ];
  const { stdout } = await promisify(execFile)(process.execPath, load);
  await server.stop();
  const steps = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Step);
  const profile = mainThreadProfile();
  if (out) mkdirSync(out, { recursive: true });
  for (const { step, operations, microsPerOperation, began, ended } of steps) {
    const root = frameTree(profile, began, ended);
    console.log(`${step}: ${microsPerOperation.toFixed(0)} µs of all threads, ${operations} times, profiled`);
    for (const { name, share } of selfShares(root).slice(0, shown))
      console.log(`  ${(100 * share).toFixed(1).padStart(5)} %  ${name}`);
    if (out) writeFileSync(join(out, `${step}.svg`), flameGraph(root, `${step}: the main thread`));
  }
} finally {
  rmSync(folder, { recursive: true });
}

/** Every thread writes one; the main thread's name ends in thread 0. */
function mainThreadProfile(): CpuProfile {
  const file = readdirSync(folder).find((name) => /\.0\.\d+\.cpuprofile$/.test(name));
  if (!file) throw new Error("the server left no profile");
  return JSON.parse(readFileSync(join(folder, file), "utf8")) as CpuProfile;
}
