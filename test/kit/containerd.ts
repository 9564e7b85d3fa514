// A real containerd for one test: private directories, socket, network and images, all of them removed
// afterwards.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, open, readFile, readdir, rm, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { type ContainerRuntime, grpcRuntime } from "#cri";
import { makeCgroupRoot } from "#nodeagent";
import { needs } from "./needs.ts";
import { type Registry, startRegistry } from "./registry.ts";

const run = promisify(execFile);

export interface Containerd {
  /** Path of the socket; `endpoint` is the same as an endpoint URL. */
  readonly socket: string;
  readonly endpoint: string;
  /** Full names of images that are on the node and in the registry. */
  readonly images: { readonly busybox: string; readonly pause: string };
  readonly registry: Registry;
  /** A private directory, removed on stop. */
  readonly folder: string;
  /** A private cgroup for pods, removed on stop with all its descendants. */
  readonly cgroupRoot: string;
  /** The address range of pods. */
  readonly podCidr: string;
  /** Process id of the daemon, for measurements. */
  pid(): number | undefined;
  /** Kills the daemon as a crash would; containers keep running. */
  kill(): Promise<void>;
  /** Starts the daemon again on the state it left. */
  start(): Promise<void>;
  /** The last output of the daemon. */
  log(): Promise<string>;
  /** Ends all processes and removes all resources. */
  stop(): Promise<void>;
}

/** Test options that skip the test, with the reason, where containerd cannot run. */
export const needsContainerd = (): { skip: string | false } =>
  needs(
    "root",
    "containerd",
    "runc",
    "busybox",
    "tar",
    "ip",
    "/usr/lib/cni/bridge",
    "/usr/lib/cni/host-local",
    "/usr/lib/cni/loopback",
  );

const home = "/tmp";
const folderStart = "orch-containerd-";

/** Starts containerd and waits until pods can run on it. */
export async function startContainerd(): Promise<Containerd> {
  await sweep();
  const folder = await mkdtemp(join(home, folderStart));
  await writeFile(join(folder, "owner"), String(process.pid));
  const registry = await startRegistry();
  const tag = randomBytes(3);
  const podCidr = `10.${200 + (tag[0]! % 50)}.${tag[1]}.0/24`;
  const bridge = `orch${tag.toString("hex")}`;
  const cgroupRoot = `/${bridge}`;
  const daemon = new Daemon(folder);
  const stop = async (): Promise<void> => {
    await daemon.empty();
    await daemon.kill();
    await registry.stop();
    await cleared(folder);
  };
  try {
    await writeFile(join(folder, "bridge"), bridge);
    await makeCgroupRoot(cgroupRoot);
    const pause = await registry.add("pause:1", {
      entrypoint: ["/pause"],
      files: { "/pause": "#!/bin/sh\ntrap exit TERM\nwhile :; do sleep 100000 & wait; done\n" },
    });
    const busybox = await registry.add("busybox:1", { command: ["/bin/sh"] });
    await writeNetwork(folder, bridge, podCidr);
    await writeFile(join(folder, "config.toml"), configText(folder, pause));
    await daemon.start();
    const runtime = daemon.runtime();
    try {
      for (const image of [pause, busybox]) await runtime.pullImage({ image });
    } finally {
      runtime.close();
    }
    return {
      socket: daemon.socket,
      endpoint: `unix://${daemon.socket}`,
      images: { busybox, pause },
      registry,
      folder,
      cgroupRoot,
      podCidr,
      pid: () => daemon.pid(),
      kill: () => daemon.kill(),
      start: () => daemon.start(),
      log: () => daemon.log(),
      stop,
    };
  } catch (error) {
    const text = await daemon.log().catch(() => "");
    await stop();
    throw new Error(`containerd could not be started: ${(error as Error).message}\n${text.slice(-2000)}`, {
      cause: error,
    });
  }
}

const running = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

class Daemon {
  readonly socket: string;
  readonly #folder: string;
  #child: ChildProcess | undefined;

  constructor(folder: string) {
    this.#folder = folder;
    this.socket = join(folder, "containerd.sock");
  }

  runtime(): ContainerRuntime {
    return grpcRuntime({ endpoint: `unix://${this.socket}`, timeoutMilliseconds: 30_000 });
  }

  pid(): number | undefined {
    return this.#child?.pid;
  }

  log(): Promise<string> {
    return readFile(join(this.#folder, "log"), "utf8");
  }

  async start(): Promise<void> {
    const log = await open(join(this.#folder, "log"), "a");
    const child = spawn("containerd", ["--config", join(this.#folder, "config.toml")], {
      stdio: ["ignore", log.fd, log.fd],
    });
    this.#child = child;
    await log.close();
    child.on("error", () => {});
    running.add(child);
    child.once("exit", () => running.delete(child));
    const runtime = this.runtime();
    try {
      for (const until = Date.now() + 90_000; ; await new Promise((resolve) => setTimeout(resolve, 50))) {
        if (child.exitCode !== null || child.signalCode !== null) throw new Error("the daemon ended at once");
        const conditions = await runtime.status().then(
          (status) => status.conditions,
          () => [],
        );
        if (conditions.length > 0 && conditions.every((condition) => condition.status)) return;
        if (Date.now() > until) throw new Error("the daemon did not become ready");
      }
    } finally {
      runtime.close();
    }
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (!child || child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await gone;
  }

  /** Removes all sandboxes with their containers, mounts and network namespaces, if the daemon is running. */
  async empty(): Promise<void> {
    if (!this.#child || this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const runtime = this.runtime();
    try {
      const sandboxes = await runtime.listPodSandboxes();
      await Promise.all(
        sandboxes.map(async ({ id }) => {
          await runtime.stopPodSandbox(id);
          await runtime.removePodSandbox(id);
        }),
      );
    } catch {
      // `cleared` removes what remains.
    } finally {
      runtime.close();
    }
  }
}

async function writeNetwork(folder: string, bridge: string, subnet: string): Promise<void> {
  await mkdir(join(folder, "cni"));
  const ipam = {
    type: "host-local",
    dataDir: join(folder, "ipam"),
    ranges: [[{ subnet }]],
    routes: [{ dst: "0.0.0.0/0" }],
  };
  const plugins = [{ type: "bridge", bridge, isGateway: true, ipMasq: false, hairpinMode: true, ipam }];
  await writeFile(
    join(folder, "cni/10-test.conflist"),
    JSON.stringify({ cniVersion: "0.4.0", name: bridge, plugins }),
  );
}

function configText(folder: string, pause: string): string {
  return `
version = 2
root = "${folder}/root"
state = "${folder}/state"
disabled_plugins = ["io.containerd.internal.v1.opt"]
[grpc]
  address = "${folder}/containerd.sock"
[debug]
  level = "warn"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${pause}"
  restrict_oom_score_adj = true
  netns_mounts_under_state_dir = true
  stream_server_address = "127.0.0.1"
  stream_server_port = "0"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "${folder}/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.other]
      runtime_type = "io.containerd.runc.v2"
`;
}

/** Removes leftovers of test runs that were killed. */
async function sweep(): Promise<void> {
  for (const name of await readdir(home)) {
    if (!name.startsWith(folderStart)) continue;
    const folder = join(home, name);
    const owner = Number(await readFile(join(folder, "owner"), "utf8").catch(() => "0"));
    if (owner > 0 && !(await alive(owner))) await cleared(folder);
  }
}

const alive = (pid: number): Promise<boolean> =>
  readFile(`/proc/${pid}/stat`).then(
    () => true,
    () => false,
  );

/** Ends the processes that belong to a folder, unmounts its mounts, deletes its bridge and the folder. */
async function cleared(folder: string): Promise<void> {
  for (let round = 0; round < 20; round++) {
    const pids = await processesOf(folder);
    for (const pid of pids) kill(pid);
    if (pids.length === 0) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  for (let round = 0; round < 5; round++) {
    const mounts = (await readFile("/proc/self/mountinfo", "utf8"))
      .split("\n")
      .map((line) => line.split(" ")[4] ?? "")
      .filter((point) => point.startsWith(`${folder}/`));
    if (mounts.length === 0) break;
    for (const point of mounts.toReversed()) await run("umount", ["-l", point]).catch(() => {});
  }
  const bridge = await readFile(join(folder, "bridge"), "utf8").catch(() => "");
  if (bridge) {
    await run("ip", ["link", "delete", bridge]).catch(() => {});
    // cgroup v1 has one tree per controller, v2 a single one.
    const trees = [
      "/sys/fs/cgroup",
      ...(await readdir("/sys/fs/cgroup").catch(() => [])).map((name) => join("/sys/fs/cgroup", name)),
    ];
    for (const tree of trees) await groupRemoved(join(tree, bridge));
  }
  await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}

async function groupRemoved(group: string): Promise<void> {
  const below = await readdir(group, { withFileTypes: true }).catch(() => undefined);
  if (!below) return;
  for (const entry of below) if (entry.isDirectory()) await groupRemoved(join(group, entry.name));
  await rmdir(group).catch(() => {});
}

const kill = (pid: number): void => {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // Removed already.
  }
};

/**
 * Returns the daemon and its shims, identified by the folder's name in their command lines, and the processes
 * that the shims started, identified by their root directory.
 */
async function processesOf(folder: string): Promise<number[]> {
  const found: number[] = [];
  for (const name of await readdir("/proc")) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
    const mounts = await readFile(`/proc/${pid}/mountinfo`, "utf8").catch(() => "");
    const isDaemon = /containerd|runc/.test(command.split("\0")[0] ?? "") && command.includes(folder);
    const isContained = mounts
      .split("\n")
      .some((line) => line.split(" ")[4] === "/" && line.includes(`${folder}/`));
    if (isDaemon || isContained) found.push(pid);
  }
  return found;
}
