// Claim: a server that is offered five times what it can do answers every request, keeps its memory, and lets heartbeats
// through: their p99 stays under a second. Ordinary users list a namespace of ConfigMaps; a node renews its lease.
//
//   npm run bench -- overload [--seconds=60] [--times=5]
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { dialects, groupName } from "#dialect";
import { type RunningApiserver, startApiserver } from "../test/kit/apiserver.ts";
import type { Offered } from "../test/kit/offered-load.ts";
import { residentMegabytes } from "./kit/process-cost.ts";

const given = new Map<string, string>(
  process.argv
    .slice(2)
    .map((argument) => [argument.replace(/^--|=.*$/g, ""), argument.slice(argument.indexOf("=") + 1)]),
);
const seconds = Number(given.get("seconds") ?? 60);
const times = Number(given.get("times") ?? 5);
const objects = 200;
const connections = 20;
const heartbeatMilliseconds = 100;
const configMaps = "/api/v1/namespaces/default/configmaps";
const group = (name: string): string => groupName(dialects.orch, { group: name, branded: true });
const leases = `/apis/${group("coordination")}/v1/namespaces/default/leases`;
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
  ["heartbeats, failed", `${late.count}, ${late.failed}`],
  ["heartbeats p50, p99, longest, ms", [0.5, 0.99, 1].map((share) => late.at(share).toFixed(0)).join(", ")],
  ["resident before, most meanwhile, MB", `${before.toFixed(0)}, ${most.toFixed(0)}`],
];
for (const [name, value] of figures) console.log(name.padEnd(40), value);

async function prepare({ call }: RunningApiserver): Promise<void> {
  const rbac = group("rbac.authorization");
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
  readonly count: number;
  readonly failed: number;
  /** The time that this share of them did not exceed. */
  at(share: number): number;
}

/** Renews a lease as a node does, over a connection of its own. */
function heartbeats({ url, ca }: RunningApiserver): { stop(): Promise<Heartbeats> } {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const headers = { authorization: "Bearer node-token", "content-type": "application/merge-patch+json" };
  const renew = (): Promise<number> =>
    new Promise((resolve, reject) => {
      const target = new URL(`${leases}/n1`, url);
      const sent = request(target, { method: "PATCH", agent, ca, headers }, (reply) => {
        reply.resume().on("end", () => resolve(reply.statusCode ?? 0));
      });
      const renewTime = new Date().toISOString().replace("Z", "000Z");
      sent.on("error", reject).end(JSON.stringify({ spec: { renewTime } }));
    });
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
    agent.destroy();
  };
  const over = beat();
  return {
    stop: async () => {
      running = false;
      await over;
      const sorted = took.toSorted((a, b) => a - b);
      const at = (share: number): number =>
        sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
      return { count: took.length, failed, at };
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
