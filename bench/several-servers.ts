// Claim: several servers on one etcd serve more than one can, as far as the cores of the machine go. Every server gets a
// load of its own at the same time; processor time of all servers and of etcd is told for each operation.
//
//   npm run bench -- several-servers [--servers=1,2,4] [--objects=1500]
import { execFile } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { dialects, groupName } from "#dialect";
import { startEtcd } from "#kit";
import { type RunningApiserver, startApiserver } from "../test/kit/apiserver.ts";
import { cpuMicros } from "./kit/process-cost.ts";

const given = new Map<string, string>(
  process.argv
    .slice(2)
    .map((argument) => [argument.replace(/^--|=.*$/g, ""), argument.slice(argument.indexOf("=") + 1)]),
);
const counts = (given.get("servers") ?? "1,2,4").split(",").map(Number);
const objects = given.get("objects") ?? "1500";
const steps = ["create", "get", "list_500"];

interface Step {
  readonly step: string;
  readonly operations: number;
  readonly microsPerOperation: number;
  readonly perSecond: number;
}

console.log(`on ${availableParallelism()} cores, which the loads share`);
console.log(
  "servers  step          a second   µs an operation (servers)   µs of etcd for each of all operations",
);
for (const count of counts) {
  const etcd = await startEtcd();
  try {
    const endpoint = etcd.endpoints[0]!;
    const pid = pidListening(endpoint);
    const servers: RunningApiserver[] = [];
    try {
      for (let each = 0; each < count; each++)
        servers.push(
          await startApiserver({ flags: [`--store-servers=${endpoint}`], readyWithinSeconds: 300 }),
        );
      const before = cpuMicros(pid);
      const all = (await Promise.all(servers.map(load))).flat();
      const etcdMicros = (cpuMicros(pid) - before) / all.reduce((sum, { operations }) => sum + operations, 0);
      for (const name of steps) {
        const mine = all.filter(({ step }) => step === name);
        const perSecond = mine.reduce((sum, each) => sum + each.perSecond, 0);
        const micros = mine.reduce((sum, each) => sum + each.microsPerOperation, 0) / mine.length;
        console.log(
          `${String(count).padEnd(8)} ${name.padEnd(10)} ${perSecond.toFixed(0).padStart(11)} ${micros.toFixed(0).padStart(12)} ${etcdMicros.toFixed(0).padStart(28)}`,
        );
      }
    } finally {
      for (const server of servers) await server.stop();
    }
  } finally {
    await etcd.stop();
  }
}

async function load(server: RunningApiserver): Promise<Step[]> {
  const script = join(import.meta.dirname, "kit", "apiserver-load.ts");
  const group = groupName(dialects.orch, { group: "events", branded: true });
  const { stdout } = await promisify(execFile)(process.execPath, [
    "--conditions=orch-source",
    script,
    server.url,
    String(server.pid),
    server.token,
    group,
    objects,
    steps.join(","),
  ]);
  return stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Step);
}

/** The process that was given this endpoint. */
function pidListening(endpoint: string): number {
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
      if (command.includes("--listen-client-urls") && command.includes(endpoint)) return Number(pid);
    } catch {
      continue;
    }
  }
  throw new Error(`no etcd listens on ${endpoint}`);
}
