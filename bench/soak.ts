// Claim: the database, its log and the memory of a server stay bounded however long it runs. Simulates an hour of a small
// cluster in minutes: nodes renew leases, pods start, report their status and end, Events are written and expire;
// compaction and the lifetime of Events are shortened accordingly. Prints sizes and the slowest lease renewal for every
// twelfth of the hour.
//
//   npm run bench -- soak [--nodes=100] [--times=12] [--hours=1]
import { statSync } from "node:fs";
import { join } from "node:path";
import { type RunningApiserver, startApiserver } from "../test/kit/apiserver.ts";
import { givenNumber } from "./kit/given.ts";
import { inFlight } from "./kit/in-flight.ts";
import { keptConnection, mustCall } from "./kit/kept-connection.ts";
import { leasesPath as leases } from "./kit/paths.ts";
import { cpuMicros, residentMegabytes } from "./kit/process-cost.ts";

const nodes = givenNumber("nodes", 100);
/** Factor by which compaction and expiry are accelerated. */
const times = givenNumber("times", 12);
/** Parts per hour. */
const parts = 12;
const lastPart = parts * givenNumber("hours", 1);
const renewalsPerNode = 360;
const podsPerNode = 18;
const updatesPerPod = 4;
const eventsPerPod = 10;
const connections = 16;

const flags = [
  "--disable-admission-plugins=ServiceAccount",
  `--event-ttl=${Math.round(3600 / times)}s`,
  `--store-compaction-interval=${Math.round(300 / times)}s`,
];

await using server = await startApiserver({ flags, readyWithinSeconds: 300 });
const kept = keptConnection(server, connections);
const call = (method: string, path: string, body?: object) => mustCall(kept, method, path, body);
for (let node = 0; node < nodes; node++)
  await call("POST", leases, { metadata: { name: `n${node}` }, spec: { holderIdentity: `n${node}` } });

const writesPerPart = (nodes * (renewalsPerNode + podsPerNode * (2 + updatesPerPod + eventsPerPod))) / parts;
console.log(`${writesPerPart * lastPart} writes, Events live ${Math.round(3600 / times)} s`);
console.log("part   database MB   its log MB   resident MB   slowest renewal ms   processor µs a write");
let pods = 0;
const resident: number[] = [];
for (let part = 1; part <= lastPart; part++) {
  const before = cpuMicros(server.pid);
  let slowest = 0;
  const work: (() => Promise<void>)[] = [];
  for (let each = 0; each < (nodes * renewalsPerNode) / parts; each++)
    work.push(async () => {
      const began = performance.now();
      await call("PATCH", `${leases}/n${each % nodes}`, {
        spec: { renewTime: `2026-01-01T00:00:00.${String(each % 1_000_000).padStart(6, "0")}Z` },
      });
      slowest = Math.max(slowest, performance.now() - began);
    });
  for (let each = 0; each < (nodes * podsPerNode) / parts; each++) work.push(() => podLife(`p${pods++}`));
  shuffle(work);
  await inFlight(connections, work.length, (at) => work[at]!());
  const size = sizes(server);
  resident.push(residentMegabytes(server.pid));
  const micros = (cpuMicros(server.pid) - before) / writesPerPart;
  console.log(
    [part, size.database, size.log, resident.at(-1)!, slowest, micros]
      .map((figure, at) => figure.toFixed(at === 1 || at === 2 ? 1 : 0).padStart(at ? 13 : 4))
      .join(""),
  );
}
kept.close();
const settled = resident.slice(lastPart / 3);
console.log(
  `resident over the last two thirds: ${Math.min(...settled).toFixed(0)} to ${Math.max(...settled).toFixed(0)} MB`,
);

async function podLife(name: string): Promise<void> {
  const pod = { metadata: { name }, spec: { containers: [{ name: "c", image: "example.com/image:1" }] } };
  await call("POST", "/api/v1/namespaces/default/pods", pod);
  const path = `/api/v1/namespaces/default/pods/${name}`;
  for (let update = 0; update < updatesPerPod; update++)
    await call("PATCH", `${path}/status`, { status: { message: `${update} ${"x".repeat(1500)}` } });
  for (let event = 0; event < eventsPerPod; event++)
    await call("POST", "/api/v1/namespaces/default/events", {
      metadata: { name: `${name}.${event}` },
      involvedObject: { kind: "Pod", namespace: "default", name },
      reason: "Soak",
      message: "x".repeat(800),
      type: "Normal",
    });
  await call("DELETE", `${path}?gracePeriodSeconds=0`);
}

/** Deterministic random numbers. */
function shuffle<T>(items: T[]): void {
  let seed = 1;
  for (let at = items.length - 1; at > 0; at--) {
    seed = (seed * 48_271) % 2_147_483_647;
    const other = seed % (at + 1);
    [items[at], items[other]] = [items[other]!, items[at]!];
  }
}

function sizes({ folder }: RunningApiserver): { readonly database: number; readonly log: number } {
  const megabytes = (name: string): number =>
    (statSync(join(folder, "data", "store", name), { throwIfNoEntry: false })?.size ?? 0) / 1e6;
  return { database: megabytes("store.db"), log: megabytes("store.db-wal") };
}
