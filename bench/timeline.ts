// Claim: timeline queries are cheap, limits hold under a flood of events, and an export loses nothing.
//
//   npm run bench -- timeline [--events=200000] [--objects=5000] [--flood-seconds=10] [--exported=100000]
//
// A value of 0 skips the part; the export of a million takes some minutes.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createReadStream, existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { type RunningServer, startServer } from "#apiserver";
import { writeClientConfig } from "#client";
import { timelineGroup } from "#dialect";
import { figure, row } from "./kit/figures.ts";
import { givenNumber } from "./kit/given.ts";
import { inFlight } from "./kit/in-flight.ts";
import { eventsPath } from "./kit/paths.ts";

const events = givenNumber("events", 200_000);
const objects = givenNumber("objects", 5000);
const floodSeconds = givenNumber("flood-seconds", 10);
const exported = givenNumber("exported", 100_000);
const writesInFlight = 256;
const floodPerSecond = 5000;
/** Long enough to start the program and to export some events. */
const killEvery = givenNumber("kill-every-seconds", 5) * 1000;

const timelinePath = `/apis/${timelineGroup}/v1/namespaces/default`;
const start = Date.now() - 3_600_000;
const show = (name: string, value: string): void => row(name, value, 64);

const event = (at: number, pod: number, spread: number): string =>
  JSON.stringify({
    metadata: { name: `event-${String(at).padStart(8, "0")}` },
    eventTime: new Date(start + at * spread).toISOString().replace("Z", "000Z"),
    type: at % 10 === 0 ? "Warning" : "Normal",
    reason: ["Pulled", "Created", "Started", "BackOff", "Scheduled"][at % 5],
    action: "Run",
    note: `Container image "registry.example.com/shop/web:${at % 40}" already present on machine`,
    reportingController: "example.com/agent",
    reportingInstance: `agent-${pod % 50}`,
    regarding: { kind: "Pod", namespace: "default", name: `pod-${pod}`, uid: `uid-${pod}` },
  });

interface Numbered {
  readonly from: number;
  readonly count: number;
  readonly body: (at: number) => string;
}

async function create(server: RunningServer, { from, count, body }: Numbered): Promise<void> {
  const headers = { "content-type": "application/json" };
  await inFlight(writesInFlight, count, async (at) => {
    const answer = await server.inject({ method: "POST", path: eventsPath, headers, body: body(from + at) });
    await answer.bytes();
    if (answer.status !== 201) throw new Error(`an event was answered with ${answer.status}`);
  });
}

async function ask(server: RunningServer, path: string): Promise<{ millis: number; bytes: number }> {
  const before = process.cpuUsage();
  const answer = await server.inject({ method: "GET", path: `${timelinePath}/${path}` });
  const bytes = (await answer.bytes()).length;
  const { user, system } = process.cpuUsage(before);
  if (answer.status !== 200) throw new Error(`${path} was answered with ${answer.status}`);
  return { millis: (user + system) / 1000, bytes };
}

/** Returns the median of several runs, since some include a garbage collection. */
async function middle(server: RunningServer, name: string, path: string): Promise<void> {
  const runs = [];
  for (let run = 0; run < 11; run++) runs.push(await ask(server, path));
  const { millis, bytes } = runs.sort((a, b) => a.millis - b.millis)[5]!;
  show(name, `${millis.toFixed(1)} ms CPU`);
  show("", `${(bytes / 1024).toFixed(0)} KiB`);
}

async function views(): Promise<void> {
  await using server = await startServer({ store: "memory", flags: ["--event-ttl=24h"] });
  const spread = 3_600_000 / events;
  const many = events - 10_000;
  await create(server, { from: 0, count: many, body: (at) => event(at, at % objects, spread) });
  await create(server, { from: many, count: 10_000, body: (at) => event(at, objects, spread) });
  console.log(`\n${figure(events)} events over ${figure(objects + 1)} objects`);
  const first = await ask(server, "buckets?points=200");
  show("first question after the start (makes the index)", `${first.millis.toFixed(0)} ms CPU`);
  const [from, to] = [1_500_000, 1_860_000].map((at) => new Date(start + at).toISOString());
  await middle(server, "buckets: 200 intervals of everything by type", "buckets?points=200");
  await middle(
    server,
    "buckets: a tenth of the time by reason and type",
    `buckets?points=200&by=reason,type&since=${from}&until=${to}`,
  );
  await middle(server, "lanes: the first 100 of all, with 200 marks each", "lanes?points=200&limit=100");
  await middle(
    server,
    "lanes: 500 in a tenth of the time, by warnings",
    `lanes?points=200&sort=warnings&since=${from}&until=${to}`,
  );
  await middle(server, "timelines: the newest 100", "timelines?order=newest&limit=100");
  await middle(server, "timelines: 500 warnings of one reason", "timelines?type=Warning&reason=Pulled");
  await middle(server, "timelines: a search that finds nothing", "timelines?text=nowhere");
  await middle(
    server,
    "timelines: 100 of an object with 10,000 events",
    `timelines?kind=Pod&name=pod-${objects}&limit=100`,
  );
  await middle(
    server,
    "timelines: 5,000 of an object with 10,000 events",
    `timelines?kind=Pod&name=pod-${objects}&limit=5000`,
  );
}

async function flood(): Promise<void> {
  const limit = 20_000;
  await using server = await startServer({ store: "memory", flags: [`--event-max-count=${limit}`] });
  const stored = async (): Promise<number> => {
    const answer = await server.inject({ method: "GET", path: `${eventsPath}?limit=1` });
    const { metadata } = JSON.parse(Buffer.from(await answer.bytes()).toString()) as {
      metadata: { remainingItemCount?: number };
    };
    return 1 + (metadata.remainingItemCount ?? 0);
  };
  let most = 0;
  const began = Date.now();
  let made = 0;
  for (let second = 0; second < floodSeconds; second++) {
    for (let part = 0; part < 10; part++) {
      const count = floodPerSecond / 10;
      await create(server, { from: made, count, body: (at) => event(at, at % objects, 1) });
      made += count;
      most = Math.max(most, await stored());
      await sleep(Math.max(began + second * 1000 + (part + 1) * 100 - Date.now(), 0));
    }
  }
  const seconds = (Date.now() - began) / 1000;
  await sleep(1000);
  console.log(`\na flood of ${figure(made)} events within a limit of ${figure(limit)}`);
  show("events a second", (made / seconds).toFixed(0));
  show("most events seen at once", figure(most));
  show("events a second later", figure(await stored()));
}

/** Counts the complete lines of a file and their events; reads in parts, since the file may be very long. */
async function exportedTo(file: string): Promise<{ lines: number; numbers: Set<number>; gaps: number }> {
  const numbers = new Set<number>();
  let [lines, gaps] = [0, 0];
  if (!existsSync(file)) return { lines, numbers, gaps };
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
    lines++;
    const at = line.indexOf('"name":"event-');
    if (at < 0) gaps++;
    else numbers.add(Number(line.slice(at + 14, at + 22)));
  }
  return { lines, numbers, gaps };
}

async function withoutLoss(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "orch-export-"));
  const store = { dir: join(folder, "data") };
  await using server = await startServer({ store, port: 0, flags: ["--event-ttl=24h"] });
  const config = join(folder, "config");
  writeClientConfig(config, server.clientConfig);
  const file = join(folder, "events.jsonl");
  const program = new URL("../src/bin/orch.ts", import.meta.url).pathname;
  const begin = (): ChildProcess =>
    spawn(
      process.execPath,
      [
        "--conditions=orch-source",
        program,
        "events",
        "export",
        "--follow",
        `--orchconfig=${config}`,
        `--cursor-file=${join(folder, "cursor")}`,
        `--file=${file}`,
      ],
      { stdio: ["ignore", "inherit", "inherit"] },
    );
  const size = (): number => (existsSync(file) ? statSync(file).size : 0);
  const began = Date.now();
  let kills = 0;
  let done = false;
  const body = (at: number): string => event(at, at % objects, 1);
  const filling = create(server, { from: 0, count: exported, body }).then(() => (done = true));
  let child = begin();
  while (!done) {
    await sleep(killEvery);
    child.kill("SIGKILL");
    await once(child, "exit");
    kills++;
    child = begin();
  }
  await filling;
  // Wait until nothing more arrives: the restarted program reads the missed events, then follows.
  for (let [last, still] = [-1, 0]; still < 12; await sleep(5000)) {
    still = size() === last && last > 0 ? still + 1 : 0;
    last = size();
    if (still > 0 && (await exportedTo(file)).numbers.size === exported) break;
  }
  child.kill("SIGTERM");
  await once(child, "exit");
  const { lines, numbers, gaps } = await exportedTo(file);
  console.log(`\nan export of ${figure(exported)} events, killed ${kills} times on the way`);
  show("events lost", String(exported - numbers.size));
  show("events exported twice", String(lines - gaps - numbers.size));
  show("gaps told", String(gaps));
  show("seconds", ((Date.now() - began) / 1000).toFixed(0));
  rmSync(folder, { recursive: true, force: true });
}

if (events > 0) await views();
if (floodSeconds > 0) await flood();
if (exported > 0) await withoutLoss();
process.exit(0);
