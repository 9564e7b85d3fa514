// The usage of a volume that has a file system of its own, or whose file system stands for it.
import { statfs } from "node:fs/promises";
import type { VolumeStats } from "../interfaces.ts";

export async function fileSystemStats(path: string): Promise<VolumeStats> {
  const { bsize, blocks, bavail, bfree, files, ffree } = await statfs(path);
  return {
    capacityBytes: blocks * bsize,
    availableBytes: bavail * bsize,
    usedBytes: (blocks - bfree) * bsize,
    inodes: files,
    inodesFree: ffree,
    inodesUsed: files - ffree,
  };
}
