// Claim: several servers on one etcd serve more than one, as far as the machine has cores. Every server gets a separate
// load at the same time; the CPU time of all servers and of etcd is reported per operation.
//
//   npm run bench -- several-servers [--servers=1,2,4] [--objects=1500]
import { readFileSync, readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { startEtcd } from "#kit";
import { type RunningApiserver, startApiserver } from "../test/kit/apiserver.ts";
import { doWork } from "./kit/apiserver-work.ts";
import { givenNumber, givenNumbers } from "./kit/given.ts";
import { cpuMicros } from "./kit/process-cost.ts";

const counts = givenNumbers("servers", [1, 2, 4]);
const objects = givenNumber("objects", 1500);
const steps = ["create", "get", "list_500"];

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
      const all = (await Promise.all(servers.map((server) => doWork({ server, objects, steps })))).flat();
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

/** Returns the process that listens on this endpoint. */
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
