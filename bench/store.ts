// Claims: at least three times as many durable 1.5 KB writes with 64 in flight as a single etcd on the same disk in the
// same run; 100k keys are read, watched, reopened and indexed cheaply; no flush blocks the event loop.

import { type ChildProcess, spawn } from "node:child_process";
import { randomFillSync } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { openStore, type Store } from "#store";
import { figure as round, percentile } from "./kit/figures.ts";
import { inFlight as repeat } from "./kit/in-flight.ts";

const root = mkdtempSync(join(tmpdir(), "bench-store-"));
const clientPort = 23790;
const peerPort = 23791;
const manyKeys = 100_000;
const value = randomFillSync(new Uint8Array(1536));
const collect = (globalThis as { gc?: () => void }).gc ?? (() => undefined);
const rows: [what: string, figure: string, note?: string][] = [];

interface Load {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
}
let written = 0;

/** Creates keys for some time with the given number of writes in flight. */
async function load(store: Store, inFlight: number, milliseconds: number): Promise<Load> {
  const latencies: number[] = [];
  const began = performance.now();
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (performance.now() - began < milliseconds) {
        const start = performance.now();
        const outcome = await store.write({ key: `/bench/load/${written++}`, value, expect: "absent" });
        if (!outcome.done) throw new Error("a new key was there");
        latencies.push(performance.now() - start);
      }
    }),
  );
  return {
    perSecond: (latencies.length / (performance.now() - began)) * 1000,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
  };
}

async function startEtcd(): Promise<ChildProcess | string> {
  if (!existsSync("/usr/bin/etcd")) return "etcd is not installed";
  const url = (port: number): string => `http://127.0.0.1:${port}`;
  const flags = [
    "--data-dir",
    join(root, "etcd"),
    "--listen-client-urls",
    url(clientPort),
    "--advertise-client-urls",
    url(clientPort),
    "--listen-peer-urls",
    url(peerPort),
  ];
  const cluster = [
    "--initial-advertise-peer-urls",
    url(peerPort),
    "--initial-cluster",
    `default=${url(peerPort)}`,
    "--log-level",
    "error",
  ];
  const child = spawn("/usr/bin/etcd", [...flags, ...cluster], {
    stdio: "ignore",
    env: { ...process.env, ETCD_UNSUPPORTED_ARCH: process.arch },
  });
  for (let attempt = 0; attempt < 100; attempt++) {
    const open = await new Promise<boolean>((resolve) => {
      const socket = connect(clientPort, "127.0.0.1", () => resolve(true)).on("error", () => resolve(false));
      socket.on("connect", () => socket.destroy());
    });
    if (open) return child;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  child.kill();
  return "etcd did not start";
}

/** Runs both stores under the same load in turns, so that other work affects both. */
async function compareWrites(): Promise<void> {
  const sqlite = await openStore({ dir: join(root, "sqlite") });
  const etcdProcess = await startEtcd();
  const etcd =
    typeof etcdProcess === "string"
      ? undefined
      : await openStore({ etcd: { endpoints: [`http://127.0.0.1:${clientPort}`], prefix: "/bench" } });
  let held = 0;
  for (const inFlight of [1, 64]) {
    const results: { sqlite: Load[]; etcd: Load[] } = { sqlite: [], etcd: [] };
    for (let turn = 0; turn < 3; turn++) {
      const delay = monitorEventLoopDelay({ resolution: 1 });
      delay.enable();
      results.sqlite.push(await load(sqlite, inFlight, 1000));
      delay.disable();
      held = Math.max(held, delay.max / 1e6);
      if (etcd) results.etcd.push(await load(etcd, inFlight, 1000));
    }
    const median = (loads: readonly Load[]): Load => loads.toSorted((a, b) => a.perSecond - b.perSecond)[1]!;
    const ours = median(results.sqlite);
    const describe = (one: Load): string => `p50 ${round(one.p50, 2)} ms, p99 ${round(one.p99, 2)} ms`;
    rows.push([`durable writes/s, ${inFlight} in flight, sqlite`, round(ours.perSecond), describe(ours)]);
    if (etcd) {
      const theirs = median(results.etcd);
      rows.push([`durable writes/s, ${inFlight} in flight, etcd`, round(theirs.perSecond), describe(theirs)]);
      rows.push([
        `sqlite over etcd, ${inFlight} in flight`,
        `${round(ours.perSecond / theirs.perSecond, 1)} ×`,
        inFlight === 64 ? "claim: ≥ 3 ×" : "",
      ]);
    } else rows.push([`durable writes/s, ${inFlight} in flight, etcd`, "skipped", String(etcdProcess)]);
  }
  rows.push(["event loop held at most, sqlite writes, ms", round(held, 1)]);
  await sqlite.close();
  await etcd?.close();
  if (typeof etcdProcess !== "string") {
    const ended = once(etcdProcess, "exit");
    etcdProcess.kill();
    await ended;
  }
}

const memory = (): number => {
  collect();
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
};

async function fill(dir: string): Promise<void> {
  const store = await openStore({ dir });
  const began = performance.now();
  await repeat(256, manyKeys, async (at) => {
    const n = (at * 7919) % manyKeys;
    const key = `/registry/pods/namespace-${n % 100}/some-workload-7d4b9c6f5-${String(n).padStart(6, "0")}`;
    await store.write({ key, value, expect: "absent" });
  });
  rows.push([
    "fill with 100k keys, 256 in flight, writes/s",
    round((manyKeys / (performance.now() - began)) * 1000),
  ]);
  rows.push(["bytes on disk per 1.5 KB object", round((await store.status()).bytes / manyKeys)]);
  await store.close();
}

async function manyObjects(): Promise<void> {
  const dir = join(root, "many");
  await fill(dir);
  // Wait for a turn of the event loop, which releases the memory used for filling.
  await new Promise((resolve) => setTimeout(resolve, 50));
  const before = memory();
  const began = performance.now();
  const store = await openStore({ dir, recentBytes: 1 << 20 });
  rows.push([
    "reopen with 100k keys, ms",
    round(performance.now() - began),
    `file ${round(statSync(join(dir, "store.db")).size / 2 ** 20)} MB`,
  ]);
  rows.push([
    "memory per stored object (index), bytes",
    round((memory() - before) / manyKeys),
    "keys of 55 characters included",
  ]);

  await rangeReads(store);
  await watches(store);
  await store.close();
}

async function rangeReads(store: Store): Promise<void> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  for (const turn of ["first", "again"]) {
    delay.reset();
    delay.enable();
    const began = performance.now();
    const { entries } = await store.read({ prefix: "/registry/pods/" });
    const took = performance.now() - began;
    delay.disable();
    rows.push([
      `read 100k keys with values, ms (${turn})`,
      round(took),
      `${round((entries.length / took) * 1000)} keys/s, loop held at most ${round(delay.max / 1e6, 1)} ms`,
    ]);
  }
  let began = performance.now();
  let after: string | undefined;
  let pages = 0;
  for (let remaining = 1; remaining > 0; pages++) {
    const page = await store.read({
      prefix: "/registry/pods/",
      limit: 500,
      ...(after !== undefined && { after }),
    });
    after = page.entries.at(-1)!.key;
    ({ remaining } = page);
  }
  rows.push(["read 100k keys in pages of 500, ms", round(performance.now() - began), `${pages} pages`]);
  began = performance.now();
  for (let n = 0; n < 20_000; n++) await store.read({ key: after! });
  rows.push(["single reads/s, from disk", round((20_000 / (performance.now() - began)) * 1000)]);
}

async function watches(store: Store): Promise<void> {
  const { revision } = await store.status();
  let began = performance.now();
  let seen = 0;
  for await (const batch of store.watch({ prefix: "/registry/" }, 0, new AbortController().signal)) {
    seen += batch.changes.length;
    if (batch.through >= revision) break;
  }
  rows.push([
    "watch catching up on 100k changes from disk, changes/s",
    round((seen / (performance.now() - began)) * 1000),
  ]);

  const stop = new AbortController();
  const writes = 20_000;
  const sent = new Map<string, number>();
  const latencies: number[] = [];
  let delivered = 0;
  const watching = Array.from({ length: 100 }, async (_, i) => {
    for await (const batch of store.watch({ prefix: "/registry/" }, revision, stop.signal)) {
      delivered += batch.changes.length;
      if (i === 0)
        for (const change of batch.changes) latencies.push(performance.now() - sent.get(change.key)!);
      if (delivered >= writes * 100) stop.abort();
    }
  });
  began = performance.now();
  await repeat(64, writes, async (at) => {
    const key = `/registry/events/default/${at}`;
    sent.set(key, performance.now());
    await store.write({ key, value, expect: "absent" });
  });
  await Promise.all(watching);
  const took = performance.now() - began;
  rows.push([
    "watch delivery to 100 watchers, changes/s",
    round((delivered / took) * 1000),
    `while ${round((writes / took) * 1000)} writes/s at 64 in flight`,
  ]);
  rows.push([
    "from asking to write to seeing it, ms",
    `p50 ${round(percentile(latencies, 0.5), 2)}`,
    `p99 ${round(percentile(latencies, 0.99), 2)}, flush included`,
  ]);
}

try {
  await compareWrites();
  await manyObjects();
} finally {
  rmSync(root, { recursive: true, force: true });
}
console.log(`| what | figure | note |\n|---|---:|---|`);
for (const [what, figure, note] of rows) console.log(`| ${what} | ${figure} | ${note ?? ""} |`);
