// Usage of a node and its pods from two readings of its agent's `/metrics/resource`: CPU is the rate between
// them, memory that of the later one.

/** One reading; containers by `namespace/pod`, then by name. */
export interface Reading {
  readonly node: Sample | undefined;
  readonly pods: ReadonlyMap<string, ReadonlyMap<string, Sample>>;
}

export interface Sample {
  /** Unix time in milliseconds. */
  readonly at: number;
  readonly cpuSeconds: number;
  readonly memoryBytes: number;
  readonly startSeconds: number;
}

export interface Usage {
  readonly at: number;
  readonly windowMilliseconds: number;
  readonly nanoCores: number;
  readonly memoryBytes: number;
}

export interface NodeUsage {
  readonly node: Usage | undefined;
  /** By `namespace/pod`; a pod is missing if one of its containers was read only once. */
  readonly pods: ReadonlyMap<string, ReadonlyMap<string, Usage>>;
}

const line =
  /^(node|container)_(cpu_usage_seconds_total|memory_working_set_bytes|start_time_seconds)(?:\{(.*)\})? (\S+)(?: (\d+))?$/;
const label = /(\w+)="((?:[^"\\]|\\.)*)"/g;

/** Parses the text exposition format; `at` is the time of samples without a timestamp. */
export function parseReading(text: string, at: number): Reading {
  const node: Partial<Record<string, number>> = {};
  const pods = new Map<string, Map<string, Partial<Record<string, number>>>>();
  for (const each of text.split("\n")) {
    const found = line.exec(each);
    if (!found) continue;
    const [, of, figure, labels = "", value, time] = found;
    let target = node;
    if (of === "container") {
      const named = Object.fromEntries([...labels.matchAll(label)].map(([, key, given]) => [key, given!]));
      const pod = `${named["namespace"]}/${named["pod"]}`;
      let containers = pods.get(pod);
      if (!containers) pods.set(pod, (containers = new Map()));
      const container = named["container"] ?? "";
      target = containers.get(container) ?? {};
      containers.set(container, target);
    }
    target[figure!] = Number(value);
    if (figure === "cpu_usage_seconds_total") target["at"] = time === undefined ? at : Number(time);
  }
  return {
    node: sampleOf(node),
    pods: new Map(
      [...pods].map(([pod, containers]) => [
        pod,
        new Map(
          [...containers].flatMap(([name, raw]) => {
            const figures = sampleOf(raw);
            return figures ? [[name, figures] as const] : [];
          }),
        ),
      ]),
    ),
  };
}

function sampleOf(raw: Partial<Record<string, number>>): Sample | undefined {
  const { at, cpu_usage_seconds_total: cpuSeconds, memory_working_set_bytes: memoryBytes } = raw;
  if (at === undefined || cpuSeconds === undefined || memoryBytes === undefined) return undefined;
  return { at, cpuSeconds, memoryBytes, startSeconds: raw["start_time_seconds"] ?? 0 };
}

export function usageBetween(earlier: Reading, later: Reading): NodeUsage {
  const pods = new Map<string, ReadonlyMap<string, Usage>>();
  for (const [pod, containers] of later.pods) {
    const before = earlier.pods.get(pod);
    const known = [...containers].flatMap(([name, figures]) => {
      const usage = rate(before?.get(name), figures);
      return usage ? [[name, usage] as const] : [];
    });
    if (known.length > 0 && known.length === containers.size) pods.set(pod, new Map(known));
  }
  return { node: later.node && rate(earlier.node, later.node), pods };
}

/** Returns the usage between two samples; undefined if the container was restarted in between. */
function rate(earlier: Sample | undefined, later: Sample): Usage | undefined {
  if (!earlier || later.startSeconds !== earlier.startSeconds) return undefined;
  const windowMilliseconds = later.at - earlier.at;
  const spent = later.cpuSeconds - earlier.cpuSeconds;
  if (windowMilliseconds <= 0 || spent < 0) return undefined;
  const nanoCores = Math.round((spent * 1e12) / windowMilliseconds);
  return { at: later.at, windowMilliseconds, nanoCores, memoryBytes: later.memoryBytes };
}
