// Claim: an installation may hold very many Events. Measures how memory, restart, selective lists, pages and expiry
// grow with their number. The server is a separate process with the embedded store; the Events are copies of one
// that it stored itself, so that filling takes seconds. CPU time is printed in addition to wall time, since the
// machine may be shared.
//
//   npm run bench -- events [--events=1000,10000,100000] [--expire]
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { storeSpace } from "#store";
import { type RunningApiserver, startApiserver } from "../test/kit/apiserver.ts";
import { figure as number } from "./kit/figures.ts";
import { fillStore } from "./kit/fill-store.ts";
import { givenNumbers, isGiven } from "./kit/given.ts";
import { type KeptConnection, keptConnection, mustCall } from "./kit/kept-connection.ts";
import { eventsPath } from "./kit/paths.ts";
import { cpuMicros, residentMegabytes } from "./kit/process-cost.ts";

const sizes = givenNumbers("events", [1000, 10_000, 100_000]);
const eventsPerPod = 10;
const pageSize = 500;

interface Figures {
  readonly [what: string]: string;
}

const serverOptions = { flags: ["--event-ttl=24h"], readyWithinSeconds: 600 };
const template = "event-template-0000000";
const nameOf = (at: number): string => `event-template-${String(at).padStart(7, "0")}`;
const podOf = (at: number): string => `pod-${String(at).padStart(7, "0")}`;
const uidOf = (at: number): string => `00000000-0000-4000-8000-${String(at).padStart(12, "0")}`;

const columns: Figures[] = [];
for (const count of sizes) {
  process.stderr.write(`  ${number(count)} Events\n`);
  columns.push(await figuresOf(count));
}
const names = Object.keys(columns[0]!);
const rows = names.map((name) => [name, ...columns.map((figures) => figures[name] ?? "")]);
for (const row of rows)
  console.log(row.map((cell, at) => (at ? cell.padStart(16) : cell.padEnd(44))).join(" "));

async function figuresOf(count: number): Promise<Figures> {
  await using server = await startApiserver(serverOptions);
  const uid = await createTemplate(server);
  await server.stop();
  const fillSeconds = await timed(() => fill(join(server.folder, "data", "store"), count, uid));
  process.stderr.write(`  filled in ${number(fillSeconds)} s\n`);
  const space = await storeSpace(join(server.folder, "data", "store"));
  const restart = await restarted(server);
  await untilHashed(server);
  await server.kill9();
  const afterKill = await restarted(server);
  const background = await afterStart(server);
  const resident = residentMegabytes(server.pid);
  const of = (selector: string): string => `${eventsPath}?fieldSelector=${selector}`;
  const kept = keptConnection(server);
  await kept.call("GET", "/livez");
  const byUid = await firstAndNext(kept, of(`regarding.uid=${uidOf(1)}`), eventsPerPod);
  const byName = await firstAndNext(kept, of(`regarding.name=${podOf(1)}`), eventsPerPod);
  const byReason = await firstAndNext(kept, of("reason=Uncommon"), 1);
  const pages = await listPages(server, kept, count);
  kept.close();
  const figures: Record<string, string> = {
    Events: number(count),
    "database, MB": number((space.fileBytes + space.logBytes) / 1e6),
    "ready after a restart, ms (processor)": `${number(restart.wall)} (${number(restart.cpu)})`,
    "ready after kill -9, ms (processor)": `${number(afterKill.wall)} (${number(afterKill.cpu)})`,
    "work in the background after that, ms of processor": number(background),
    "resident, MB": number(resident),
    "list by regarding uid, first, ms": number(byUid.first, 1),
    "list by regarding uid, then, ms": number(byUid.next, 1),
    "list by regarding name, first, ms": number(byName.first, 1),
    "list by reason, first, ms": number(byReason.first, 1),
    "list of all in pages, µs an object (processor)": number(pages.microsPerObject, 2),
    "resident after the list, MB": number(residentMegabytes(server.pid)),
  };
  return isGiven("expire") ? { ...figures, ...(await expiry(count)) } : figures;
}

async function timed(run: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await run();
  return (performance.now() - began) / 1000;
}

/** One Event of about 2 KB, whose unique parts can be replaced without changing its length. */
async function createTemplate(server: RunningApiserver): Promise<string> {
  const answer = await server.call("POST", "/api/v1/namespaces/default/events", {
    metadata: { name: template, namespace: "default" },
    involvedObject: { kind: "Pod", namespace: "default", name: podOf(0), uid: uidOf(0) },
    reason: "Frequent",
    message: "x".repeat(1600),
    type: "Normal",
    source: { component: "bench", host: "node-1" },
    firstTimestamp: new Date().toISOString(),
    lastTimestamp: new Date().toISOString(),
    count: 1,
  });
  if (answer.status !== 201)
    throw new Error(`the template was answered with ${answer.status}: ${answer.body}`);
  return (JSON.parse(answer.body) as { metadata: { uid: string } }).metadata.uid;
}

/** Writes copies of the template straight into the store. */
async function fill(
  dir: string,
  count: number,
  templateUid: string,
  ttl?: (at: number) => number,
): Promise<void> {
  await fillStore({
    dir,
    key: `/registry/events/default/${template}`,
    count,
    ttlSeconds: ttl ?? (() => 86_400),
    replacements: [
      { word: template, with: nameOf },
      { word: podOf(0), with: (at) => podOf(Math.ceil(at / eventsPerPod)) },
      { word: uidOf(0), with: (at) => uidOf(Math.ceil(at / eventsPerPod)) },
      { word: templateUid, with: (at) => `11111111-1111-4111-8111-${String(at).padStart(12, "0")}` },
      { word: "Frequent", with: (at) => (at === 7 ? "Uncommon" : "Frequent") },
    ],
  });
}

/** Starts the server and returns the milliseconds and the CPU time until it is ready. */
async function restarted(server: RunningApiserver): Promise<{ readonly wall: number; readonly cpu: number }> {
  const wall = (await timed(() => server.restart())) * 1000;
  return { wall, cpu: cpuMicros(server.pid) / 1000 };
}

/**
 * Waits until the field hashes of all Events are saved. Filling writes none, whereas a server saves them with the
 * Events; a list by a field waits for them.
 */
async function untilHashed(server: RunningApiserver): Promise<void> {
  const kept = keptConnection(server);
  await mustCall(kept, "GET", `${eventsPath}?fieldSelector=regarding.uid=${uidOf(1)}`);
  kept.close();
  await afterStart(server);
}

/** Waits until the server is idle, so that background work after the start is not measured. */
async function afterStart(server: RunningApiserver): Promise<number> {
  const began = cpuMicros(server.pid);
  for (let before = began; ;) {
    await sleep(2000);
    const now = cpuMicros(server.pid);
    if (now - before < 100_000) return (now - began) / 1000;
    before = now;
  }
}

async function firstAndNext(
  kept: KeptConnection,
  path: string,
  expected: number,
): Promise<{ readonly first: number; readonly next: number }> {
  const once = async (): Promise<number> => {
    const began = performance.now();
    const { status, body } = await kept.call("GET", path);
    const took = performance.now() - began;
    const items = status === 200 ? (JSON.parse(body) as { items: unknown[] }).items.length : -1;
    if (items !== expected) throw new Error(`${path}: ${status}, ${items} items instead of ${expected}`);
    return took;
  };
  const first = await once();
  return { first, next: Math.min(await once(), await once(), await once()) };
}

async function listPages(
  server: RunningApiserver,
  kept: KeptConnection,
  count: number,
): Promise<{ readonly microsPerObject: number }> {
  const before = cpuMicros(server.pid);
  let seen = 0;
  let next = "";
  do {
    const { body } = await kept.call(
      "GET",
      `${eventsPath}?limit=${pageSize}${next && `&continue=${encodeURIComponent(next)}`}`,
    );
    next = /"continue":"([^"]*)"/.exec(body.slice(0, 2000))?.[1] ?? "";
    seen += pageSize;
  } while (next !== "" && seen < count + pageSize);
  return { microsPerObject: (cpuMicros(server.pid) - before) / count };
}

/** Expires all Events at 10,000 a second, and measures pauses of the server by health checks. */
async function expiry(count: number): Promise<Figures> {
  await using server = await startApiserver(serverOptions);
  const uid = await createTemplate(server);
  await server.stop();
  // After filling and restart.
  const begins = Date.now() + 30_000 + count / 5;
  const expiresIn = (at: number): number => (begins + at / 10 - Date.now()) / 1000;
  await fill(join(server.folder, "data", "store"), count, uid, expiresIn);
  await server.restart();
  if (Date.now() > begins) throw new Error("Events expired before the server was ready");
  await sleep(begins - Date.now());
  let longest = 0;
  let left = count;
  const kept = keptConnection(server);
  const before = cpuMicros(server.pid);
  while (left > 0) {
    const startedAt = performance.now();
    await kept.call("GET", "/livez");
    longest = Math.max(longest, performance.now() - startedAt);
    const { body } = await kept.call("GET", `${eventsPath}?limit=2`);
    const { items, metadata } = JSON.parse(body) as {
      items: unknown[];
      metadata: { remainingItemCount?: number };
    };
    // The template remains.
    left = items.length - 1 + (metadata.remainingItemCount ?? 0);
    await sleep(20);
  }
  kept.close();
  const seconds = (Date.now() - begins) / 1000;
  return {
    "expired a second": number(count / seconds),
    "expiry, µs an Event (processor)": number((cpuMicros(server.pid) - before) / count, 1),
    "longest answer of /livez meanwhile, ms": number(longest),
  };
}
