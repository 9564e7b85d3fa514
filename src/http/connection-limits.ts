// The number of connections this process can hold: its limit on open files, less what the rest of the process
// needs.
import { readFileSync } from "node:fs";

export interface ConnectionLimits {
  readonly connections: number;
  readonly unfinishedHandshakes: number;
}

const maxUnfinishedHandshakes = 1024;
/** Descriptors reserved for the store, log files, outgoing connections and the runtime. */
const reservedDescriptors = 128;

/**
 * Derives the connection limits from the limit on open files; connections are unlimited if that is unknown.
 */
export function connectionLimits(openFiles: number | undefined): ConnectionLimits {
  if (openFiles === undefined)
    return { connections: Infinity, unfinishedHandshakes: maxUnfinishedHandshakes };
  const connections = Math.max(Math.floor(openFiles / 2), openFiles - reservedDescriptors);
  return {
    connections,
    unfinishedHandshakes: Math.min(maxUnfinishedHandshakes, Math.ceil(connections / 2)),
  };
}

/** Returns the soft limit on open files, if the system reports it. */
export function openFileLimit(limits = "/proc/self/limits"): number | undefined {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync(limits, "utf8"))?.[1];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined;
  }
}

/**
 * Reports the first event, and later at most one in ten seconds together with the number of events since the
 * last report.
 */
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
