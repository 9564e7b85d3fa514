// Files as a fake container sees them: those in mounts may be real, the rest lives in memory.
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Mount } from "../messages/common.ts";
import type { Files } from "./program.ts";

/** The files of one container. What programs write they and later programs of the same container can read. */
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
