// User namespaces of pods: each pod with hostUsers false gets an exclusive range of the node's IDs. The range
// is stored in the pod's directory, so that it survives restarts and both this agent and the kubelet can read
// it.
import { open, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Pod } from "#api";
import { type ContainerRuntime, type UserNamespace, namespaceMode } from "#cri";
import { uidOf } from "../pod.ts";
import type { PodFiles } from "../sync/pod-files.ts";

export interface UserNamespaces {
  /**
   * Returns the pod's user namespace options for the runtime; the pod's directory must exist. Rejects if no
   * range is available.
   */
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

/** The kubelet reads and removes the file under this name. */
export const mappingsFile = "userns";
const spanLength = 65_536;
/** The first range belongs to the node itself. */
const spans = 2 ** 32 / spanLength;
const maxPods = 1024;

export function userNamespaces({
  files,
  runtime,
}: {
  readonly files: Pick<PodFiles, "folderOf" | "podUids">;
  readonly runtime: Pick<ContainerRuntime, "version">;
}): UserNamespaces {
  /** The first ID of each pod's range. */
  const held = new Map<string, number>();
  let restored: Promise<void> | undefined;

  return {
    of: async (pod) => {
      if (pod.spec.hostUsers !== false) return { mode: namespaceMode.node };
      await checkRuntime(runtime);
      await (restored ??= restore().catch((error: unknown) => {
        restored = undefined;
        throw error;
      }));
      const uid = uidOf(pod);
      const hostId = held.get(uid) ?? (await allocate(uid));
      const mapping = [{ hostId, containerId: 0, length: spanLength }];
      return { mode: namespaceMode.pod, uids: mapping, gids: mapping };
    },
  };

  async function restore(): Promise<void> {
    for (const uid of await files.podUids()) {
      const hostId = await readMapping(uid);
      if (hostId !== undefined) held.set(uid, hostId);
    }
  }

  async function allocate(uid: string): Promise<number> {
    // Taken before the directories are listed: each of these pods already had its directory.
    const before = [...held.keys()];
    const present = new Set(await files.podUids());
    for (const each of before) if (!present.has(each)) held.delete(each);
    if (held.size >= maxPods)
      throw new Error(
        `limit on count of pods with user namespaces exceeded (limit is ${maxPods}, current pods with userns: ${held.size})`,
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

  /** Writes the mapping file, synced to disk before use: two pods must never share IDs. */
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

  async function readMapping(uid: string): Promise<number | undefined> {
    const text = await readFile(join(files.folderOf(uid), mappingsFile), "utf8").catch(
      (error: NodeJS.ErrnoException) => {
        // Of any other error, the range of this pod may be in use.
        if (error.code !== "ENOENT" && error.code !== "ENOTDIR") throw error;
        return "";
      },
    );
    if (text === "") return undefined;
    const { uidMappings: [users, ...more] = [], gidMappings: [groups] = [] } = mappingsOf(text) ?? {};
    const isValid =
      users !== undefined &&
      more.length === 0 &&
      JSON.stringify(users) === JSON.stringify(groups) &&
      users.containerId === 0 &&
      users.length === spanLength &&
      users.hostId % spanLength === 0 &&
      users.hostId > 0 &&
      users.hostId < spans * spanLength;
    if (!isValid) throw new Error(`invalid user namespace configuration of pod ${uid}`);
    return users.hostId;
  }
}

function mappingsOf(text: string): Mappings | undefined {
  try {
    return JSON.parse(text) as Mappings;
  } catch {
    return undefined;
  }
}

/** Rejects runtimes that ignore the field and would silently run the pod with the node's root user. */
async function checkRuntime(runtime: Pick<ContainerRuntime, "version">): Promise<void> {
  const { runtimeName, runtimeVersion } = await runtime.version();
  const [major = 0, minor = 0] = runtimeVersion.replace(/^v/, "").split(".").map(Number);
  if (runtimeName === "containerd" && (major < 1 || (major === 1 && minor < 7)))
    throw new Error(
      `containerd ${runtimeVersion} has no user namespaces, which hostUsers: false asks for: 1.7 is the first with them`,
    );
}
