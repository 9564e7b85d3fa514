// Makes the agent's root directory a shared mount, as needed for bidirectional mount propagation: if its
// mount is private, it is bound to itself.
import { realpath } from "node:fs/promises";
import type { Mounter } from "./mounter.ts";

export async function makeShared(
  mounter: Pick<Mounter, "mountInfo" | "bind" | "makeShared">,
  directory: string,
): Promise<void> {
  const path = await realpath(directory);
  if (isShared(await mounter.mountInfo(), path)) return;
  await mounter.bind(path, path);
  await mounter.makeShared(path);
}

/**
 * Reports whether the mount that contains a path is shared. A line of mountinfo:
 * `36 35 98:0 /root /mnt rw,noatime shared:1 - ext3 /dev/sda rw`; the last matching mount counts.
 */
export function isShared(mountInfo: string, path: string): boolean {
  let holder: { readonly point: string; readonly shared: boolean } | undefined;
  for (const line of mountInfo.split("\n")) {
    const fields = line.split(" ");
    const point = fields[4];
    if (point === undefined || !(path === point || path.startsWith(point === "/" ? "/" : `${point}/`)))
      continue;
    if (holder && point.length < holder.point.length) continue;
    const optional = fields.slice(6, fields.indexOf("-"));
    holder = { point, shared: optional.some((field) => field.startsWith("shared:")) };
  }
  return holder?.shared === true;
}
