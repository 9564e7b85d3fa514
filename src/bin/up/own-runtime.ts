// The cluster's own containerd, for machines without a suitable one: its paths and how it is run. It shares
// only the programs with other containerd instances; folders, socket and pod network are separate.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, statfsSync } from "node:fs";
import { join } from "node:path";
import { makeFolder, writePrivate } from "#base";
import { grpcRuntime } from "#cri";
import { importPauseImage, pauseImageName } from "./pause-image.ts";
import { type PodNetwork, acceptForwarding, ensureNetworkConfig } from "./pod-network.ts";
import type { ProcessPlan } from "./supervisor.ts";
import { programFolders, systemPath } from "./system-path.ts";

export interface OwnRuntime {
  /** Identifies this cluster among others on the machine. */
  readonly id: string;
  /** Images and other data that survives a reboot. */
  readonly folder: string;
  /** Data that does not survive a reboot; a short path, since socket paths are limited in length. */
  readonly state: string;
  readonly socket: string;
  readonly endpoint: string;
  readonly config: string;
  /** The archive of the sandbox image to import. */
  readonly sandboxImage: string;
  readonly network: PodNetwork;
}

/** Derives the runtime from the cluster's folder: stable, and different for each cluster. */
export function ownRuntimeOf(clusterFolder: string): OwnRuntime {
  const id = createHash("sha256").update(clusterFolder).digest("hex").slice(0, 8);
  const folder = join(clusterFolder, "runtime");
  const state = `/run/orch/${id}`;
  const socket = join(state, "containerd.sock");
  return {
    id,
    folder,
    state,
    socket,
    endpoint: `unix://${socket}`,
    config: join(folder, "config.toml"),
    sandboxImage: join(folder, "pause.tar"),
    network: {
      bridge: `orch-${id}`,
      seed: Number.parseInt(id, 16),
      folder: join(folder, "network"),
      file: join(folder, "network", "10-pods.conflist"),
    },
  };
}

const stopTimeoutMilliseconds = 15_000;

/** Returns the process plan; also writes the configuration, and lets packets of pods be forwarded. */
export function ownRuntimePlan(runtime: OwnRuntime, logFile: string): ProcessPlan {
  for (const folder of [runtime.folder, runtime.state, runtime.network.folder]) makeFolder(folder);
  ensureNetworkConfig(runtime.network);
  acceptForwarding(runtime.network.bridge);
  writePrivate(runtime.config, configText(runtime));
  const args = [`PATH=${systemPath}`, "containerd", "--config", runtime.config];
  return {
    name: "runtime",
    command: "/usr/bin/env",
    args,
    logFile,
    stopTimeoutMilliseconds,
    isReady: () => runsPods(runtime.endpoint),
  };
}

/** Imports the sandbox image into a running runtime, unless it is present. */
export async function supplySandboxImage({ endpoint, socket, sandboxImage }: OwnRuntime): Promise<void> {
  const runtime = grpcRuntime({ endpoint, timeoutMilliseconds: 5000 });
  try {
    const { image } = await runtime.imageStatus({ image: pauseImageName });
    if (!image) await importPauseImage(socket, sandboxImage);
  } finally {
    runtime.close();
  }
}

/** Reports whether a runtime responds and all of its conditions, including the network, are true. */
export async function runsPods(endpoint: string): Promise<boolean> {
  const runtime = grpcRuntime({ endpoint, timeoutMilliseconds: 5000 });
  try {
    const { conditions } = await runtime.status();
    return conditions.length > 0 && conditions.every(({ status }) => status);
  } catch {
    return false;
  } finally {
    runtime.close();
  }
}

function configText({ folder, state, socket, network }: OwnRuntime): string {
  return `# Written by orch up at every start. Put your own settings into files in conf.d; they take precedence.
version = 2
imports = [${quoted(join(folder, "conf.d", "*.toml"))}]
root = ${quoted(join(folder, "root"))}
state = ${quoted(state)}
disabled_plugins = ["io.containerd.internal.v1.opt"]
[grpc]
  address = ${quoted(socket)}
[debug]
  level = "warn"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = ${quoted(pauseImageName)}
  restrict_oom_score_adj = ${!mayProtectFromOom()}
  netns_mounts_under_state_dir = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = ${quoted(pluginFolders.find((each) => existsSync(join(each, "bridge"))) ?? pluginFolders[0]!)}
    conf_dir = ${quoted(network.folder)}
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "${isOverlay(folder) ? "native" : "overlayfs"}"
`;
}

const quoted = (text: string): string => JSON.stringify(text);

/** Folders in which distributions install network plugins. */
const pluginFolders = ["/usr/lib/cni", "/usr/libexec/cni", "/opt/cni/bin"];

/** Packages that provide the required programs, with the paths to check. */
export const runtimePackages: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(
    ["containerd", "runc", "iptables"].map((name) => [
      name,
      programFolders.map((folder) => join(folder, name)),
    ]),
  ),
  "containernetworking-plugins": pluginFolders.map((folder) => join(folder, "bridge")),
};

/** Reports whether the process may lower OOM scores, which containers often may not. */
function mayProtectFromOom(status = readFileSync("/proc/self/status", "utf8")): boolean {
  const sysResource = 24n;
  const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? "0";
  return ((BigInt(`0x${effective}`) >> sysResource) & 1n) === 1n;
}

/** An overlay filesystem cannot be stacked on another one. */
const isOverlay = (folder: string): boolean => statfsSync(folder).type === 0x794c7630;
