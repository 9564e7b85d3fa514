// Where the main thread spends its time in each operation of the cost table: runs the workload of the API server
// benchmark against a profiled server and prints the most expensive functions. With --out=FOLDER it draws flame graphs.
//
//   npm run bench -- flame-graphs [--objects=4000] [--out=docs/flame-graphs]
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startApiserver } from "../test/kit/apiserver.ts";
import { doWork } from "./kit/apiserver-work.ts";
import { type CpuProfile, flameGraph, frameTree, selfShares } from "./kit/flame-graph.ts";
import { given, givenNumber } from "./kit/given.ts";

const objects = givenNumber("objects", 4000);
const out = given("out");
const shown = 6;

const folder = mkdtempSync(join(tmpdir(), "flame-graphs-"));
try {
  process.env["NODE_OPTIONS"] = `--cpu-prof --cpu-prof-dir=${folder} --cpu-prof-interval=250`;
  const server = await startApiserver({ readyWithinSeconds: 300 });
  delete process.env["NODE_OPTIONS"];
  const steps = await doWork({ server, objects });
  await server.stop();
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
