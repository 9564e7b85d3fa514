// User namespaces of pods: each pod that does not share the node's users has a span of ids of the node for
// itself, written down in its folder, so that it keeps them over restarts and either agent can read them.
import { open, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Pod } from "#api";
import { type ContainerRuntime, type UserNamespace, namespaceMode } from "#cri";
import { uidOf } from "../pod.ts";
import type { PodFiles } from "../sync/pod-files.ts";

export interface UserNamespaces {
  /** What the runtime is told of the pod's users; its folder must be there. Rejects when it cannot have any. */
  of(pod: Pod): Promise<UserNamespace>;
}

interface Mappings {
  readonly uidMappings?: readonly Mapping[];
  readonly gidMappings?: readonly Mapping[];
}
interface Mapping {
  readonly hostId: number;
  readonly containerId: number;
  readonly length: number;
}

/** Also read and removed by the kubelet, by this name. */
export const mappingsFile = "userns";
const spanLength = 65_536;
/** The first span is the node's own. */
const spans = 2 ** 32 / spanLength;
const mostPods = 1024;

export function userNamespaces({
  files,
  runtime,
}: {
  readonly files: Pick<PodFiles, "folderOf" | "podUids">;
  readonly runtime: Pick<ContainerRuntime, "version">;
}): UserNamespaces {
  /** The first id of each pod's span. */
  const held = new Map<string, number>();
  let restored: Promise<void> | undefined;

  return {
    of: async (pod) => {
      if (pod.spec.hostUsers !== false) return { mode: namespaceMode.node };
      await checkRuntime(runtime);
      await (restored ??= restore());
      const uid = uidOf(pod);
      const hostId = held.get(uid) ?? (await allocate(uid));
      const mapping = [{ hostId, containerId: 0, length: spanLength }];
      return { mode: namespaceMode.pod, uids: mapping, gids: mapping };
    },
  };

  async function restore(): Promise<void> {
    for (const uid of await files.podUids()) {
      const hostId = await written(uid);
      if (hostId !== undefined) held.set(uid, hostId);
    }
  }

  async function allocate(uid: string): Promise<number> {
    // Whoever is among these now had a folder before the folders are listed.
    const before = [...held.keys()];
    const present = new Set(await files.podUids());
    for (const each of before) if (!present.has(each)) held.delete(each);
    if (held.size >= mostPods)
      throw new Error(
        `limit on count of pods with user namespaces exceeded (limit is ${mostPods}, current pods with userns: ${held.size})`,
      );
    const taken = new Set(held.values());
    let span = 1;
    while (taken.has(span * spanLength)) span++;
    const hostId = span * spanLength;
    held.set(uid, hostId);
    try {
      await write(uid, hostId);
    } catch (error) {
      held.delete(uid);
      throw error;
    }
    return hostId;
  }

  /** Durable before it is used: two pods must never have the same ids. */
  async function write(uid: string, hostId: number): Promise<void> {
    const mapping = [{ hostId, containerId: 0, length: spanLength }];
    const path = join(files.folderOf(uid), mappingsFile);
    const draft = `${path}.new`;
    const file = await open(draft, "w", 0o600);
    try {
      await file.writeFile(JSON.stringify({ uidMappings: mapping, gidMappings: mapping }));
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path).catch(async (error: unknown) => {
      await rm(draft, { force: true });
      throw error;
    });
    const folder = await open(files.folderOf(uid));
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  }

  async function written(uid: string): Promise<number | undefined> {
    const text = await readFile(join(files.folderOf(uid), mappingsFile), "utf8").catch(() => "");
    if (text === "") return undefined;
    const { uidMappings: [users, ...more] = [], gidMappings: [groups] = [] } = JSON.parse(text) as Mappings;
    const isOurs =
      users !== undefined &&
      more.length === 0 &&
      JSON.stringify(users) === JSON.stringify(groups) &&
      users.containerId === 0 &&
      users.length === spanLength &&
      users.hostId % spanLength === 0 &&
      users.hostId > 0 &&
      users.hostId < spans * spanLength;
    if (!isOurs) throw new Error(`invalid user namespace configuration of pod ${uid}`);
    return users.hostId;
  }
}

/** Older releases do not know the field, and would run the pod as the node's root without a word. */
async function checkRuntime(runtime: Pick<ContainerRuntime, "version">): Promise<void> {
  const { runtimeName, runtimeVersion } = await runtime.version();
  const [major = 0, minor = 0] = runtimeVersion.replace(/^v/, "").split(".").map(Number);
  if (runtimeName === "containerd" && (major < 1 || (major === 1 && minor < 7)))
    throw new Error(
      `containerd ${runtimeVersion} has no user namespaces, which hostUsers: false asks for: 1.7 is the first with them`,
    );
}
