// CPU time and resident memory of a process and its children, from /proc.
import { readFileSync, readdirSync } from "node:fs";

function descendants(pid: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const stat = tryRead(`/proc/${name}/stat`);
    const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
    children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const found = [pid];
  for (let at = 0; at < found.length; at++) found.push(...(children.get(found[at]!) ?? []));
  return found;
}

function tryRead(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

/**
 * Returns the CPU time of all threads so far, in microseconds. Exited threads are counted in clock ticks.
 */
export function cpuMicros(pid: number): number {
  let micros = 0;
  for (const one of descendants(pid)) {
    for (const task of threads(one))
      micros += Number(tryRead(`/proc/${one}/task/${task}/schedstat`).split(" ")[0] || 0) / 1000;
  }
  return micros;
}

function threads(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

export function residentMegabytes(pid: number): number {
  let kilobytes = 0;
  for (const one of descendants(pid))
    kilobytes += Number(/VmRSS:\s+(\d+)/.exec(tryRead(`/proc/${one}/status`))?.[1] ?? 0);
  return kilobytes / 1024;
}
