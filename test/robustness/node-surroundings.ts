// Dependencies of a node's agent besides the runtime and the API server: plugins that are killed and
// restarted, and a disk that fills up and is cleared.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, rm, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { kinds } from "#client";
import { type Cluster, until } from "#kit";

const run = promisify(execFile);

export interface NodePlugins extends AsyncDisposable {
  start(): Promise<void>;
  /** Resolves when the node has their devices and their driver. */
  registered(): Promise<void>;
  /** Kills them with SIGKILL, which leaves their sockets behind. */
  kill(): Promise<void>;
}

export async function nodePlugins(cluster: Cluster): Promise<NodePlugins> {
  const data = join(cluster.folder, "driver-data");
  await mkdir(data);
  await writeFile(join(data, "hello"), "from the driver\n");
  await cluster.client.of(kinds.csiDrivers).create({
    metadata: { name: "bind.example.com" },
    spec: { volumeLifecycleModes: ["Ephemeral"] },
  });
  const script = join(import.meta.dirname, "plugin-program.ts");
  let child: ChildProcess | undefined;
  const kill = async (): Promise<void> => {
    const dying = child;
    child = undefined;
    if (!dying || dying.exitCode !== null || !dying.kill("SIGKILL")) return;
    await once(dying, "exit");
  };
  return {
    start: async () => {
      await kill();
      child = spawn(process.execPath, ["--conditions=orch-source", script, cluster.agent.rootDir, data], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      await Promise.race([once(child.stdout!, "data"), once(child, "exit")]);
    },
    registered: async () => {
      await until("the node has the plug-in's devices", async () => {
        const { status } = await cluster.client.of(kinds.nodes).get(cluster.nodeName);
        return Number(status?.allocatable?.["example.com/dev"] ?? 0) > 0;
      });
      await until("the node has the storage driver", async () => {
        const { items } = await cluster.client.of(kinds.csiNodes).list();
        return items.some(({ spec }) => spec.drivers?.some(({ name }) => name === "bind.example.com"));
      });
    },
    kill,
    [Symbol.asyncDispose]: kill,
  };
}

export interface SmallDisk extends AsyncDisposable {
  readonly path: string;
  fill(): Promise<void>;
  clear(): Promise<void>;
}

/** Mounts a separate tmpfs, so that the machine's disks are not filled. */
export async function smallDisk(path: string, megabytes: number): Promise<SmallDisk> {
  await mkdir(path, { recursive: true });
  await run("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", path]);
  const filler = join(path, "filler");
  return {
    path,
    fill: async () => {
      const { bavail, bsize } = await statfs(path);
      await writeFile(filler, Buffer.alloc(bavail * bsize)).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== "ENOSPC") throw error;
      });
    },
    clear: () => rm(filler, { force: true }),
    [Symbol.asyncDispose]: async () => {
      await run("umount", ["-l", path]);
      await rm(path, { recursive: true, force: true });
    },
  };
}
