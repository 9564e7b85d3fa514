// Claim: the programs of `orch envtest` are ready within half a second, and ten environments at once on two cores
// within three seconds. CPU time is printed as well, since it does not depend on other work.
//
//   npm run bench -- envtest [--environments=10]
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { get as getHttp } from "node:http";
import { get as getHttps } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../test/kit/free-port.ts";
import { givenNumber } from "./kit/given.ts";
import { cpuMicros } from "./kit/process-cost.ts";

const many = givenNumber("environments", 10);
const folder = mkdtempSync(join(tmpdir(), "orch-bench-envtest-"));
const programs = execFileSync(join(import.meta.dirname, "..", "bin", "orch"), [
  "envtest",
  "--dir",
  join(folder, "bin"),
])
  .toString()
  .trim();
const key = join(folder, "key.pem");
writeFileSync(
  key,
  generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ type: "sec1", format: "pem" }),
);

const answers = (url: string): Promise<boolean> =>
  new Promise((resolve) => {
    const get = url.startsWith("https:") ? getHttps : getHttp;
    get(url, { rejectUnauthorized: false, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    }).on("error", () => resolve(false));
  });

async function startUntil(program: string, args: readonly string[], url: string): Promise<ChildProcess> {
  const child = spawn(join(programs, program), args, { stdio: "ignore" });
  while (!(await answers(url))) {
    if (child.exitCode !== null) throw new Error(`${program} ended with code ${child.exitCode}`);
    await sleep(5);
  }
  return child;
}

/** Starts one environment and measures the time until it is ready, and the CPU time of its programs. */
async function environment(): Promise<readonly [store: number, server: number]> {
  const [storePort, port] = [await freePort(), await freePort()];
  const storeUrl = `http://127.0.0.1:${storePort}`;
  const store = await startUntil("etcd", [`--listen-client-urls=${storeUrl}`], `${storeUrl}/health`);
  const flags = [
    `--etcd-servers=${storeUrl}`,
    `--secure-port=${port}`,
    "--bind-address=127.0.0.1",
    `--cert-dir=${mkdtempSync(join(folder, "certs-"))}`,
    "--service-account-issuer=https://localhost/",
    `--service-account-key-file=${key}`,
    `--service-account-signing-key-file=${key}`,
    "--service-cluster-ip-range=10.0.0.0/24",
    "--authorization-mode=RBAC",
    "--disable-admission-plugins=ServiceAccount",
  ];
  const server = await startUntil("kube-apiserver", flags, `https://127.0.0.1:${port}/readyz`);
  const cost = [cpuMicros(store.pid!) / 1000, cpuMicros(server.pid!) / 1000] as const;
  running.push(server, store);
  return cost;
}

const running: ChildProcess[] = [];
async function stopAll(): Promise<void> {
  for (const child of running) child.kill("SIGTERM");
  const ending = running.splice(0).filter(({ exitCode }) => exitCode === null);
  await Promise.all(ending.map((child) => once(child, "exit")));
}

/** Starts several environments at once; returns the best of three rounds. */
async function measure(count: number): Promise<void> {
  let best = { wall: Infinity, store: 0, server: 0 };
  for (let round = 0; round < 3; round++) {
    const began = performance.now();
    const costs = await Promise.all(Array.from({ length: count }, environment));
    const wall = performance.now() - began;
    const mean = (which: 0 | 1): number => costs.reduce((sum, cost) => sum + cost[which], 0) / count;
    if (wall < best.wall) best = { wall, store: mean(0), server: mean(1) };
    await stopAll();
  }
  const figures = [best.wall, best.store, best.server].map((each) => each.toFixed(0).padStart(11));
  console.log(`${String(count).padStart(12)}${figures.join("")}`);
}

try {
  console.log("environments  ready ms  store cpu server cpu");
  await measure(1);
  await measure(many);
} finally {
  await stopAll();
  rmSync(folder, { recursive: true, force: true });
}
