// How many connections this process can hold: its limit on open files, less what the rest of it needs.
import { readFileSync } from "node:fs";

export interface ConnectionLimits {
  readonly connections: number;
  readonly unfinishedHandshakes: number;
}

const maxUnfinishedHandshakes = 1024;
/** For the store, log files, outgoing connections and the runtime itself. */
const reservedDescriptors = 128;

/** The limits that go with a limit on open files; none of the first kind where that is unknown. */
export function connectionLimits(openFiles: number | undefined): ConnectionLimits {
  if (openFiles === undefined)
    return { connections: Infinity, unfinishedHandshakes: maxUnfinishedHandshakes };
  const connections = Math.max(Math.floor(openFiles / 2), openFiles - reservedDescriptors);
  return {
    connections,
    unfinishedHandshakes: Math.min(maxUnfinishedHandshakes, Math.ceil(connections / 2)),
  };
}

/** The soft limit on open files, where the system tells it. */
export function openFileLimit(limits = "/proc/self/limits"): number | undefined {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync(limits, "utf8"))?.[1];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined;
  }
}

/** Passes on the first of many events, and then one in ten seconds with how many there were. */
export function rateLimited<T>(
  now: () => number,
  report: (count: number, event: T) => void,
): (event: T) => void {
  let count = 0;
  let reportedAt = -Infinity;
  return (event) => {
    count++;
    if (now() - reportedAt < 10_000) return;
    reportedAt = now();
    report(count, event);
    count = 0;
  };
}
