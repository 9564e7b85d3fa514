// Makes volume directories accessible to all containers of a pod.
import { chmod, stat } from "node:fs/promises";
import type { Pod } from "#api";
import { setGroupRecursively } from "../ownership.ts";

export function fsGroupOf(pod: Pod): number | undefined {
  const group = pod.spec.securityContext?.fsGroup;
  return group === undefined || group === null ? undefined : Number(group);
}

/** Grants all permissions to all users; other mode bits are kept. */
export async function openToAll(directory: string): Promise<void> {
  if (((await stat(directory)).mode & 0o777) !== 0o777) await chmod(directory, 0o777);
}

/** Makes a directory accessible to all containers of the pod. */
export async function share(directory: string, pod: Pod): Promise<void> {
  await openToAll(directory);
  const group = fsGroupOf(pod);
  if (group !== undefined) await setGroupRecursively(directory, group);
}
