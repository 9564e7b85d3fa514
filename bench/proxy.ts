// Cost of programming 1,000 services with 10,000 endpoints, and of one change to them, with nftables and iptables.
// Another proxy with the same flags can be measured in the same run: --proxy=PATH. Runs in a separate network
// namespace; needs root. --legacy uses the legacy iptables commands: iptables over nftables reads all rules for every
// change.
//
//   npm run bench -- proxy [--proxy=PATH] [--only=nftables] [--legacy]
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type ApiClient, apiClient, connectionOf, https, singleContext } from "#client";
import { type RunningApiserver, programCommand, startApiserver } from "#kit";
import { median } from "./kit/figures.ts";
import { given, isGiven } from "./kit/given.ts";
import { inFlight } from "./kit/in-flight.ts";
import { inOwnNetwork, ip } from "./kit/own-network.ts";
import { residentMegabytes } from "./kit/process-cost.ts";

const other = given("proxy");
const services = 1000;
const endpointsEach = 10;
const changes = 3;
const writers = 8;
const metricsPort = 10249;
const clockTicksPerSecond = 100;
const askMilliseconds = 10;
/** Longer than any proxy delays a write. */
const quietMilliseconds = 3000;

interface Contender {
  readonly name: string;
  readonly command: readonly string[];
}

const ours = [...programCommand("orch-proxy"), "--dialect=kubernetes", `--port=${metricsPort}`];
const contenders: Contender[] = [
  { name: "orch, nftables", command: [...ours, "--proxy-mode=nftables"] },
  { name: "orch, iptables", command: [...ours, "--proxy-mode=iptables"] },
  ...(other === undefined
    ? []
    : [
        {
          name: "other, iptables",
          command: [
            other,
            "--proxy-mode=iptables",
            `--metrics-bind-address=127.0.0.1:${metricsPort}`,
            "--conntrack-max-per-core=0",
            "--conntrack-tcp-timeout-established=0",
            "--conntrack-tcp-timeout-close-wait=0",
          ],
        },
      ]),
];

const env = environment();
await inOwnNetwork(import.meta.filename, measureAll);

async function measureAll(): Promise<void> {
  ip("link set lo up");
  await using server = await startApiserver({
    dialect: "kubernetes",
    flags: ["--service-cluster-ip-range=10.96.0.0/16", "--disable-admission-plugins=ServiceAccount"],
  });
  const context = singleContext({ name: "bench", server: server.url, ca: server.ca, token: server.token });
  const client = apiClient(https(connectionOf(context)), "kubernetes");
  await inFlight(writers, services, (at) => createService(client, at));
  for (const contender of contenders)
    if (contender.name.includes(given("only") ?? "")) await measure(contender, server, client);
}

async function measure(
  { name, command: [program, ...flags] }: Contender,
  { kubeconfig }: RunningApiserver,
  client: ApiClient,
): Promise<void> {
  const common = [`--kubeconfig=${kubeconfig}`, "--hostname-override=node", "--cluster-cidr=10.128.0.0/9"];
  const began = performance.now();
  const child = spawn(program!, [...flags, ...common], { stdio: "ignore", env });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  try {
    while ((await writesOf()) === 0) await sleep(askMilliseconds);
    const whole = performance.now() - began;
    await sleep(quietMilliseconds);
    const wholeCpu = cpuMilliseconds(child.pid!);
    const times: number[] = [];
    for (let at = 0; at < changes; at++) {
      const before = await writesOf();
      const start = performance.now();
      await putEndpoints(client, at, endpointsEach - 1);
      while ((await writesOf()) === before) await sleep(askMilliseconds);
      times.push(performance.now() - start);
      await sleep(quietMilliseconds);
    }
    const changeCpu = (cpuMilliseconds(child.pid!) - wholeCpu) / changes;
    console.log(
      `${name}: ${services} services with ${services * endpointsEach} endpoints ${(whole / 1000).toFixed(1)} s after its start, ${wholeCpu} ms of CPU with that of its commands; one change in ${median(times).toFixed(0)} ms, ${changeCpu.toFixed(0)} ms of CPU; ${residentMegabytes(child.pid!).toFixed(0)} MB resident; ${ruleCount()} rules`,
    );
  } finally {
    child.kill("SIGKILL");
    await ended;
    for (let at = 0; at < changes; at++) await putEndpoints(client, at, endpointsEach);
    // Remove its rules before the next proxy runs.
    spawnSync("nft", ["flush", "ruleset"]);
    for (const table of ["nat", "filter", "mangle"])
      for (const action of ["-F", "-X"]) spawnSync("iptables", ["-t", table, action], { env });
  }
}

/** Returns how often the proxy has written the packet filter. */
async function writesOf(): Promise<number> {
  try {
    const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    return Number(/_sync_proxy_rules_duration_seconds_count\S* (\d+)/.exec(text)?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/** Returns the CPU time of a process including the commands it ran. */
function cpuMilliseconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = fields.slice(11, 15).reduce((sum, each) => sum + Number(each), 0);
  return (ticks / clockTicksPerSecond) * 1000;
}

function ruleCount(): number {
  const count = (command: readonly string[]): number =>
    (
      spawnSync(command[0]!, command.slice(1), { env, encoding: "utf8", maxBuffer: 1 << 28 }).stdout ?? ""
    ).split("\n").length;
  return Math.max(count(["nft", "list", "ruleset"]), count(["iptables-save"]));
}

/** Returns a folder in which `iptables` and its variants are the legacy ones, if requested. */
function environment(): NodeJS.ProcessEnv {
  if (!isGiven("legacy")) return process.env;
  const folder = mkdtempSync(join(tmpdir(), "orch-iptables-"));
  for (const family of ["iptables", "ip6tables"])
    for (const command of ["", "-save", "-restore"])
      symlinkSync(`/usr/sbin/${family}-legacy${command}`, join(folder, `${family}${command}`));
  return { ...process.env, PATH: `${folder}:${process.env["PATH"] ?? ""}` };
}

async function createService(client: ApiClient, at: number): Promise<void> {
  const name = `service-${at}`;
  await client.request("POST", "/api/v1/namespaces/default/services", {
    metadata: { name },
    spec: { ports: [{ port: 80, targetPort: 8080 }] },
  });
  await client.request("POST", "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", {
    metadata: { name, labels: { "kubernetes.io/service-name": name } },
    addressType: "IPv4",
    ports: [{ name: "", port: 8080, protocol: "TCP" }],
    endpoints: endpointsOf(at),
  });
}

function endpointsOf(at: number) {
  return Array.from({ length: endpointsEach }, (_, each) => {
    const number = at * endpointsEach + each;
    return {
      addresses: [`10.128.${number >> 8}.${number & 255}`],
      conditions: { ready: true },
      nodeName: "node",
    };
  });
}

async function putEndpoints(client: ApiClient, at: number, count: number): Promise<void> {
  const path = `/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/service-${at}`;
  const slice = (await client.request("GET", path)) as object;
  await client.request("PUT", path, { ...slice, endpoints: endpointsOf(at).slice(0, count) });
}
