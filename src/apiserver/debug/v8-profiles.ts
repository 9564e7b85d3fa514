// Converts profiles recorded by the inspector to stacks with values.
import type { CallFrame, StackSample } from "#tracing";

interface CpuNode {
  readonly id: number;
  readonly callFrame: CallFrame;
  readonly children?: readonly number[];
}

export interface CpuProfile {
  readonly nodes: readonly CpuNode[];
  /** Microseconds. */
  readonly startTime: number;
  readonly endTime: number;
  readonly samples?: readonly number[];
  readonly timeDeltas?: readonly number[];
}

interface HeapNode {
  readonly callFrame: CallFrame;
  readonly selfSize: number;
  readonly id: number;
  readonly children: readonly HeapNode[];
}

export interface HeapProfile {
  readonly head: HeapNode;
  readonly samples: readonly { readonly size: number; readonly nodeId: number }[];
}

/** Frames that represent no code: the root of the tree and idle time. */
const empty = new Set(["(root)", "(idle)"]);

/** Returns samples and nanoseconds by stack; idle time is left out. */
export function cpuStacks({ nodes, samples = [], timeDeltas = [] }: CpuProfile): StackSample[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(
    nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)),
  );
  const measured = new Map<number, { count: number; microseconds: number }>();
  for (const [at, id] of samples.entries()) {
    const sum = measured.getOrInsertComputed(id, () => ({ count: 0, microseconds: 0 }));
    sum.count++;
    // A delta is the time that precedes its sample; that time belongs to the stack of the sample before.
    sum.microseconds += Math.max(0, timeDeltas[at + 1] ?? timeDeltas[at] ?? 0);
  }
  return [...measured].flatMap(([id, { count, microseconds }]) => {
    const stack: CallFrame[] = [];
    for (let node = byId.get(id); node; node = byId.get(parents.get(node.id) ?? -1))
      if (!empty.has(node.callFrame.functionName)) stack.push(node.callFrame);
    return stack.length > 0 ? [{ stack, values: [count, microseconds * 1000] }] : [];
  });
}

/** Returns objects and bytes by stack. */
export function heapStacks({ head, samples }: HeapProfile): StackSample[] {
  const counts = new Map<number, number>();
  for (const { nodeId } of samples) counts.set(nodeId, (counts.get(nodeId) ?? 0) + 1);
  const found: StackSample[] = [];
  const pending: { readonly node: HeapNode; readonly above: readonly CallFrame[] }[] = [
    { node: head, above: [] },
  ];
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { node, above } = next;
    const stack = empty.has(node.callFrame.functionName) ? above : [node.callFrame, ...above];
    if (node.selfSize > 0 && stack.length > 0)
      found.push({ stack, values: [counts.get(node.id) ?? 1, node.selfSize] });
    for (const child of node.children) pending.push({ node: child, above: stack });
  }
  return found;
}
