// Real etcd servers on loopback with separate directories, which can be killed, stopped and restarted.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestAuthority } from "./certificates.ts";
import { freePort } from "./free-port.ts";

export interface EtcdMember {
  readonly name: string;
  /** The client endpoint. */
  readonly endpoint: string;
  /** Sends a signal: SIGKILL acts like a crash, SIGSTOP makes the process hang, SIGCONT resumes it. */
  signal(name: "SIGKILL" | "SIGTERM" | "SIGSTOP" | "SIGCONT"): Promise<void>;
  /** Starts the process on its existing data. */
  start(): Promise<void>;
}

export interface EtcdCluster {
  readonly members: readonly EtcdMember[];
  readonly endpoints: readonly string[];
  /** Ends all processes and removes their data. */
  stop(): Promise<void>;
}

export interface EtcdClusterOptions {
  readonly members?: number;
  /** Serves over TLS and accepts only clients with a certificate of this authority. */
  readonly authority?: TestAuthority;
  readonly flags?: readonly string[];
}

/** Starts a cluster and waits until every member is healthy. */
export async function startEtcd({
  members: count = 1,
  authority,
  flags = [],
}: EtcdClusterOptions = {}): Promise<EtcdCluster> {
  const root = await mkdtemp(join(tmpdir(), "orch-etcd-"));
  const ports = await Promise.all(Array.from({ length: count * 3 }, freePort));
  const tls = authority ? await tlsFlags(root, authority) : [];
  const scheme = authority ? "https" : "http";
  const plans = Array.from({ length: count }, (_, at) => ({
    name: `m${at}`,
    client: ports[at * 3]!,
    peer: ports[at * 3 + 1]!,
    health: ports[at * 3 + 2]!,
  }));
  const cluster = plans.map(({ name, peer }) => `${name}=http://127.0.0.1:${peer}`).join(",");
  const members = plans.map((plan) => {
    const url = (port: number): string => `http://127.0.0.1:${port}`;
    const endpoint = `${scheme}://127.0.0.1:${plan.client}`;
    const own = [
      "--name",
      plan.name,
      "--data-dir",
      join(root, plan.name),
      "--listen-client-urls",
      endpoint,
      "--advertise-client-urls",
      endpoint,
    ];
    const peer = [
      "--listen-peer-urls",
      url(plan.peer),
      "--initial-advertise-peer-urls",
      url(plan.peer),
      "--initial-cluster",
      cluster,
      "--listen-metrics-urls",
      url(plan.health),
    ];
    const quick = [
      "--heartbeat-interval",
      "50",
      "--election-timeout",
      "500",
      "--logger",
      "zap",
      "--log-level",
      "error",
      "--log-outputs",
      "stderr",
    ];
    return new Member(plan.name, endpoint, url(plan.health), [...own, ...peer, ...quick, ...tls, ...flags]);
  });
  const stop = async (): Promise<void> => {
    await Promise.all(members.map((member) => member.signal("SIGKILL")));
    await rm(root, { recursive: true, force: true });
  };
  try {
    await Promise.all(members.map((member) => member.start()));
  } catch (error) {
    await stop();
    throw error;
  }
  return { members, endpoints: members.map((member) => member.endpoint), stop };
}

const running = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

class Member implements EtcdMember {
  readonly name: string;
  readonly endpoint: string;
  readonly #health: string;
  readonly #flags: readonly string[];
  #child: ChildProcess | undefined;
  #said = "";

  constructor(name: string, endpoint: string, health: string, flags: readonly string[]) {
    this.name = name;
    this.endpoint = endpoint;
    this.#health = health;
    this.#flags = flags;
  }

  async start(): Promise<void> {
    const env = { ...process.env, ETCD_UNSUPPORTED_ARCH: process.arch === "x64" ? "amd64" : process.arch };
    const child = spawn("etcd", this.#flags, { stdio: ["ignore", "ignore", "pipe"], env });
    this.#child = child;
    running.add(child);
    child.on("error", (error) => (this.#said += error.message));
    child.once("exit", () => running.delete(child));
    child.stderr.on("data", (text: Buffer) => (this.#said = (this.#said + text.toString()).slice(-4000)));
    for (const until = Date.now() + 90_000; ; await new Promise((resolve) => setTimeout(resolve, 50))) {
      if (await healthy(`${this.#health}/health`)) return;
      if (child.exitCode !== null || child.signalCode !== null || Date.now() > until)
        throw new Error(`etcd ${this.name} did not become healthy: ${this.#said}`);
    }
  }

  async signal(name: "SIGKILL" | "SIGTERM" | "SIGSTOP" | "SIGCONT"): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill(name);
    if (name === "SIGKILL" || name === "SIGTERM") await gone;
  }
}

function healthy(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get(url, { timeout: 1000, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.on("error", () => resolve(false));
    request.on("timeout", () => request.destroy());
  });
}

async function tlsFlags(root: string, authority: TestAuthority): Promise<readonly string[]> {
  const folder = join(root, "tls");
  await mkdir(folder);
  const { cert, key } = await authority.issue("/CN=etcd", { names: ["localhost"], ips: ["127.0.0.1"] });
  const files = { "ca.crt": authority.ca, "server.crt": cert, "server.key": key };
  for (const [file, text] of Object.entries(files)) await writeFile(join(folder, file), text);
  return [
    "--client-cert-auth",
    "--trusted-ca-file",
    join(folder, "ca.crt"),
    "--cert-file",
    join(folder, "server.crt"),
    "--key-file",
    join(folder, "server.key"),
  ];
}
