// Claim: the API server needs a fraction of the reference's CPU time and memory for the same work, and starts
// faster. The server is a separate process with the embedded store and real flushes, TLS and HTTP/2, authentication,
// RBAC and metrics, without audit; so is the client. On a busy machine everything costs more: the last column scales
// our figure by the cost of the bare server in the last row relative to a quiet machine. Figures of the reference
// (with its etcd) are from the same kind of machine.
//
//   npm run bench -- apiserver [--objects=10000] [--only=create,get] [--source] [--profile=DIR]
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { type Step, doWork } from "./kit/apiserver-work.ts";
import { figure } from "./kit/figures.ts";
import { given, givenNumber, isGiven } from "./kit/given.ts";
import { residentMegabytes } from "./kit/process-cost.ts";
import { type ServerProgram, launcher, startProgram, token } from "./kit/server-program.ts";

const objects = givenNumber("objects", 10_000);
const root = join(import.meta.dirname, "..");
const folder = mkdtempSync(join(tmpdir(), "orch-bench-"));
const file = (name: string): string => join(folder, name);
const fromSource = ["--conditions=orch-source", join(root, "src", "bin", "orch-apiserver.ts")];

const rows: readonly [step: string, name: string, reference: string, most: number][] = [
  ["create", "create", "1,129 µs", 200],
  ["get", "get", "563 µs", 60],
  ["list_500", "list limit=500", "14.9 ms", 1000],
  ["list_all", `list all ${figure(objects)}, resourceVersion=0`, "252 ms", 15_000],
  ["list_label", "list by label, 1 % match", "171 ms", 1000],
  ["watch", "watch delivery, 200 watchers, per delivered event", "58 µs", 10],
  ["patch", "merge patch", "2,363 µs", 300],
  ["delete", "delete", "1,420 µs", 150],
  ["deletecollection", "deletecollection, per item", "1,777 µs", 60],
];

/** Cost per request of the bare server on a quiet machine. */
const calmMicros = 22;

const running = new Set<ChildProcess>();
try {
  await main();
} finally {
  for (const child of running) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
}

async function main(): Promise<void> {
  const starts: number[] = [];
  for (let round = 0; round < 3; round++) {
    rmSync(file("data"), { recursive: true, force: true });
    const { child, startMilliseconds } = await startServer();
    starts.push(startMilliseconds);
    await stop(child);
  }
  const constant = await constantFigure();
  rmSync(file("data"), { recursive: true, force: true });
  const { child, url } = await startServer();
  await sleep(1000);
  const idle = residentMegabytes(child.pid!);
  const only = given("only");
  const steps = await doWork({
    server: { url, pid: child.pid!, token },
    objects,
    ...(only && { steps: only.split(",") }),
    onStep: ({ step, microsPerOperation, perSecond, residentMegabytes: megabytes }) =>
      process.stderr.write(
        `  ${step}: ${microsPerOperation.toFixed(1)} µs, ${perSecond.toFixed(0)}/s, ${megabytes.toFixed(0)} MB\n`,
      ),
  });
  const figures = new Map(steps.map((each) => [each.step, each]));
  await stop(child);
  print(figures, constant, {
    start: Math.min(...starts),
    idle,
    loaded: figures.get("create")?.residentMegabytes,
    embedded: await embedded(),
  });
}

async function startServer(): Promise<ServerProgram> {
  const profile = given("profile");
  const profiling = profile ? ["--cpu-prof", `--cpu-prof-dir=${profile}`] : [];
  const command = isGiven("source") || profile ? [process.execPath, ...profiling, ...fromSource] : [launcher];
  const server = await startProgram(command, folder);
  running.add(server.child);
  return server;
}

async function stop(child: ChildProcess): Promise<void> {
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  await ended;
  running.delete(child);
}

/** Measures the cost per request of a server that does nothing but HTTP. */
async function constantFigure(): Promise<number> {
  const server = spawn(
    process.execPath,
    [
      join(root, "bench", "kit", "constant-server.ts"),
      ...["crt", "key"].map((end) => file(`certificates/apiserver.${end}`)),
    ],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  running.add(server);
  const [port] = (await once(createInterface({ input: server.stdout }), "line")) as [string];
  const client = spawn(
    process.execPath,
    [join(root, "bench", "kit", "constant-load.ts"), `https://127.0.0.1:${port}`, String(server.pid)],
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  const [line] = (await once(createInterface({ input: client.stdout }), "line")) as [string];
  await stop(server);
  return Number(line);
}

/** Measures an in-process start up to the first response, with modules already loaded. */
async function embedded(): Promise<number> {
  const program = `
    const { startServer } = await import("orch/apiserver");
    const began = performance.now();
    const server = await startServer({ store: "memory" });
    await (await server.inject({ path: "/api/v1/namespaces/default" })).text();
    process.stdout.write(String(performance.now() - began));
    await server.stop();`;
  const times: number[] = [];
  for (let round = 0; round < 5; round++) {
    const condition = isGiven("source") ? ["--conditions=orch-source"] : [];
    times.push(
      Number(
        execFileSync(process.execPath, [...condition, "--input-type=module", "-e", program], {
          encoding: "utf8",
          cwd: root,
        }),
      ),
    );
  }
  return Math.min(...times);
}

function print(
  figures: ReadonlyMap<string, Step>,
  constant: number,
  about: { start: number; idle: number; loaded: number | undefined; embedded: number },
): void {
  const time = (micros: number): string =>
    micros >= 1000 ? `${(micros / 1000).toFixed(1)} ms` : `${micros.toFixed(micros < 100 ? 1 : 0)} µs`;
  const line = (
    name: string,
    reference: string,
    most: string,
    ours: string,
    good: boolean | undefined,
    scaled = "",
  ): void =>
    console.log(
      `| ${name.padEnd(50)} | ${reference.padEnd(9)} | ${most.padEnd(9)} | ${ours.padEnd(9)} | ${(good === undefined ? "" : good ? "yes" : "NO").padEnd(3)} | ${scaled.padEnd(9)} |`,
    );
  line("processor time per operation", "reference", "at most", "ours", undefined, "calm");
  console.log("|---|---|---|---|---|---|");
  for (const [step, name, reference, most] of rows) {
    const ours = figures.get(step)?.microsPerOperation;
    if (ours !== undefined)
      line(
        name,
        reference,
        time(most),
        time(ours),
        ours <= most,
        time((ours * calmMicros) / Math.max(constant, calmMicros)),
      );
  }
  line("start to ready", "3.3 s", "0.5 s", `${(about.start / 1000).toFixed(2)} s`, about.start <= 500);
  line("memory, idle", "305 MB", "120 MB", `${about.idle.toFixed(0)} MB`, about.idle <= 120);
  if (about.loaded !== undefined)
    line(
      `memory with the ${figure(objects)}`,
      "406 MB",
      "160 MB",
      `${about.loaded.toFixed(0)} MB`,
      about.loaded <= 160,
    );
  line(
    "in process, start to first answer",
    "-",
    "150 ms",
    `${about.embedded.toFixed(0)} ms`,
    about.embedded <= 150,
  );
  line("for scale: a bare HTTPS server, constant kilobyte", "-", "-", time(constant), undefined);
}
