// Files as seen by a fake container: those in mounts may be on disk, the others are in memory.
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Mount } from "../messages/common.ts";
import type { Files } from "./program.ts";

/**
 * Returns the files of one container. Files written by a program are visible to later programs of the
 * container.
 */
export function filesOf(mounts: readonly Mount[], touchDisk: boolean, memory: Map<string, string>): Files {
  const onHost = (path: string): string | undefined => {
    const inside = mounts.filter(
      ({ containerPath = "" }) =>
        path === containerPath || path.startsWith(`${containerPath.replace(/\/$/, "")}/`),
    );
    const nearest = inside.toSorted((a, b) => b.containerPath!.length - a.containerPath!.length)[0];
    return touchDisk && nearest ? nearest.hostPath! + path.slice(nearest.containerPath!.length) : undefined;
  };
  return {
    read: (path) => {
      const real = onHost(path);
      if (real === undefined) return memory.get(path);
      try {
        return readFileSync(real, "utf8");
      } catch {
        return undefined;
      }
    },
    write: (path, text, append) => {
      const real = onHost(path);
      if (real === undefined) {
        memory.set(path, append ? (memory.get(path) ?? "") + text : text);
        return;
      }
      mkdirSync(dirname(real), { recursive: true });
      if (append) appendFileSync(real, text);
      else writeFileSync(real, text);
    },
  };
}
