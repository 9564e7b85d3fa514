// Claim: a server under five times its capacity answers every request, keeps its memory bounded, and serves
// heartbeats with a p99 below one second. Ordinary users list a namespace of ConfigMaps; a node renews its lease.
//
//   npm run bench -- overload [--seconds=60] [--times=5]
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { type RunningApiserver, startApiserver } from "../test/kit/apiserver.ts";
import type { Offered } from "../test/kit/offered-load.ts";
import { percentile } from "./kit/figures.ts";
import { givenNumber } from "./kit/given.ts";
import { keptConnection } from "./kit/kept-connection.ts";
import { groupOf, leasesPath as leases } from "./kit/paths.ts";
import { residentMegabytes } from "./kit/process-cost.ts";

const seconds = givenNumber("seconds", 60);
const times = givenNumber("times", 5);
const objects = 200;
const connections = 20;
const heartbeatMilliseconds = 100;
const configMaps = "/api/v1/namespaces/default/configmaps";
const loadScript = join(import.meta.dirname, "..", "test", "kit", "offered-load.ts");

const users = [
  'admin-token,admin,admin,"system:masters"',
  "load-token,load,load",
  'node-token,system:node:n1,n1,"system:nodes"',
];

const folder = mkdtempSync(join(tmpdir(), "overload-"));
const tokens = join(folder, "users.csv");
writeFileSync(tokens, `${users.join("\n")}\n`, { mode: 0o600 });
await using server = await startApiserver({ flags: [`--token-auth-file=${tokens}`] });
rmSync(folder, { recursive: true });
await prepare(server);
const can = await load<number>(server, { rate: 0, seconds: 5, connections: 64 });
const before = residentMegabytes(server.pid);
const beats = heartbeats(server);
const memory = memoryOf(server);
const offered = await load<Offered>(server, { rate: Math.ceil(can * times), seconds, connections });
const late = await beats.stop();
const most = memory.stop();
const figures: [string, string][] = [
  ["lists a second it can do", can.toFixed(0)],
  ["offered a second", (offered.offered / seconds).toFixed(0)],
  ["answers by status", JSON.stringify(offered.answers)],
  ["429 without Retry-After", String(offered.withoutRetryAfter)],
  ["last answer after, s", offered.seconds.toFixed(0)],
  ["heartbeats, failed", `${late.took.length}, ${late.failed}`],
  [
    "heartbeats p50, p99, longest, ms",
    [0.5, 0.99, 1].map((share) => percentile(late.took, share).toFixed(0)).join(", "),
  ],
  ["resident before, most meanwhile, MB", `${before.toFixed(0)}, ${most.toFixed(0)}`],
];
for (const [name, value] of figures) console.log(name.padEnd(40), value);

async function prepare({ call }: RunningApiserver): Promise<void> {
  const rbac = groupOf("rbac.authorization");
  for (const user of ["load", "system:node:n1"])
    await call("POST", `/apis/${rbac}/v1/clusterrolebindings`, {
      metadata: { name: user.replaceAll(":", "-") },
      roleRef: { apiGroup: rbac, kind: "ClusterRole", name: "cluster-admin" },
      subjects: [{ apiGroup: rbac, kind: "User", name: user }],
    });
  for (let at = 0; at < objects; at++)
    await call("POST", configMaps, { metadata: { name: `c-${at}` }, data: { text: "x".repeat(1000) } });
  await call("POST", leases, { metadata: { name: "n1" }, spec: { holderIdentity: "n1" } });
}

async function load<T>(
  { url }: RunningApiserver,
  { rate, seconds: time, connections: many }: { rate: number; seconds: number; connections: number },
): Promise<T> {
  const args = [loadScript, url, "load-token", configMaps, rate, time, many].map(String);
  const run = await promisify(execFile)(process.execPath, ["--conditions=orch-source", ...args]);
  return JSON.parse(run.stdout) as T;
}

interface Heartbeats {
  readonly failed: number;
  /** Latencies in milliseconds. */
  readonly took: readonly number[];
}

/** Renews a lease like a node, over a separate connection. */
function heartbeats({ url, ca }: RunningApiserver): { stop(): Promise<Heartbeats> } {
  const kept = keptConnection({ url, ca, token: "node-token" });
  const renew = async (): Promise<number> => {
    const renewTime = new Date().toISOString().replace("Z", "000Z");
    return (await kept.call("PATCH", `${leases}/n1`, { spec: { renewTime } })).status;
  };
  const took: number[] = [];
  let failed = 0;
  let running = true;
  const beat = async (): Promise<void> => {
    while (running) {
      const began = performance.now();
      if ((await renew().catch(() => 0)) !== 200) failed++;
      took.push(performance.now() - began);
      await sleep(heartbeatMilliseconds);
    }
    kept.close();
  };
  const over = beat();
  return {
    stop: async () => {
      running = false;
      await over;
      return { took, failed };
    },
  };
}

function memoryOf({ pid }: RunningApiserver): { stop(): number } {
  let most = 0;
  const timer = setInterval(() => (most = Math.max(most, residentMegabytes(pid))), 500);
  return {
    stop: () => {
      clearInterval(timer);
      return most;
    },
  };
}
