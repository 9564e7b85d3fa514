// CPU sets in the list format of the kernel and of state files: "0-3,5".

export type CpuSet = ReadonlySet<number>;

export const noCpus: CpuSet = new Set();

/** Parses a CPU list; throws if it is invalid. */
export function parseCpuSet(text: string): CpuSet {
  const cpus = new Set<number>();
  for (const part of text.trim() === "" ? [] : text.trim().split(",")) {
    const found = /^(\d{1,6})(?:-(\d{1,6}))?$/.exec(part);
    const [first, last] = [Number(found?.[1]), Number(found?.[2] ?? found?.[1])];
    if (!found || last < first) throw new Error(`${JSON.stringify(text)} is not a valid CPU set`);
    for (let cpu = first; cpu <= last; cpu++) cpus.add(cpu);
  }
  return cpus;
}

export function formatCpuSet(cpus: CpuSet): string {
  const ranges: [first: number, last: number][] = [];
  for (const cpu of sortedCpus(cpus)) {
    const range = ranges.at(-1);
    if (range && range[1] === cpu - 1) range[1] = cpu;
    else ranges.push([cpu, cpu]);
  }
  return ranges.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(",");
}

export const sortedCpus = (cpus: CpuSet): number[] => [...cpus].toSorted((a, b) => a - b);

export const sameCpus = (a: CpuSet, b: CpuSet): boolean => a.size === b.size && a.isSubsetOf(b);
