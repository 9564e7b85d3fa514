// Which node a pod goes to: those that cannot take it are left out, of the others the one with the most room
// is taken.
import { type Node, type Pod, wantsNode } from "#api";
import type { Dialect } from "#dialect";
import { isTolerated, keptOffBy } from "./taints.ts";
import { type Amounts, added, amountsOf, collide, useOf } from "./requests.ts";

export type Choice =
  | { readonly node: string }
  /** For people: how many nodes there are, and what is wrong with them. */
  | { readonly node: undefined; readonly why: string };

/** `assigned` gives the pods that are on a node and not over. */
export function choose(
  pod: Pod,
  nodes: readonly Node[],
  assigned: (nodeName: string) => readonly Pod[],
  dialect: Dialect,
): Choice {
  if (nodes.length === 0) return { node: undefined, why: "no nodes available to schedule pods" };
  const reasons = new Map<string, number>();
  let best: { readonly name: string; readonly score: number } | undefined;
  for (const node of nodes) {
    const name = node.metadata.name ?? "";
    const there = assigned(name);
    const wrong = problems(pod, node, there, dialect);
    for (const reason of wrong) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    if (wrong.length > 0) continue;
    const score = room(pod, node, there);
    if (!best || score > best.score || (score === best.score && name < best.name)) best = { name, score };
  }
  if (best) return { node: best.name };
  const list = [...reasons].map(([reason, count]) => `${count} ${reason}`).toSorted();
  return { node: undefined, why: `0/${nodes.length} nodes are available: ${list.join(", ")}.` };
}

/** The first kind of problem a node has with the pod; several only where resources are short. */
function problems(pod: Pod, node: Node, there: readonly Pod[], dialect: Dialect): readonly string[] {
  const { unschedulable, taints } = node.spec;
  const closed = { key: dialect.names.taints.unschedulable, effect: "NoSchedule" };
  if (unschedulable && !isTolerated(pod, closed)) return ["node(s) were unschedulable"];
  const taint = keptOffBy(pod, taints);
  if (taint) return [`node(s) had untolerated taint {${taint.key}: ${taint.value ?? ""}}`];
  if (!wantsNode(pod.spec, { name: node.metadata.name ?? "", labels: node.metadata.labels ?? {} }))
    return ["node(s) didn't match Pod's node affinity/selector"];
  const ready = node.status.conditions?.find(({ type }) => type === "Ready");
  const excused = isTolerated(pod, { key: dialect.names.taints.notReady, effect: "NoSchedule" });
  if (ready?.status !== "True" && !excused) return ["node(s) were not ready"];
  const wanted = useOf(pod).hostPorts;
  const taken = there.flatMap((each) => useOf(each).hostPorts);
  if (wanted.some((port) => taken.some((other) => collide(port, other))))
    return ["node(s) didn't have free ports for the requested pod ports"];
  return shortages(pod, node, there);
}

function shortages(pod: Pod, node: Node, there: readonly Pod[]): readonly string[] {
  const allocatable = amountsOf(node.status.allocatable);
  const short = there.length + 1 > (allocatable["pods"] ?? 0) ? ["Too many pods"] : [];
  const asked = Object.entries(useOf(pod).requests).filter(([, amount]) => amount > 0);
  if (asked.length === 0) return short;
  const used = there.map((each) => useOf(each).requests).reduce(added, {});
  return [
    ...short,
    ...asked
      .filter(([name, amount]) => amount > (allocatable[name] ?? 0) - (used[name] ?? 0))
      .map(([name]) => `Insufficient ${name}`),
  ];
}

/** What share of CPU and memory would be left, from 0 to 1. */
function room(pod: Pod, node: Node, there: readonly Pod[]): number {
  const allocatable = amountsOf(node.status.allocatable);
  const used = [...there, pod].map((each) => useOf(each).weighed).reduce(added, {});
  const left = (amounts: Amounts, name: string): number =>
    amounts[name] ? Math.max(0, (amounts[name] - (used[name] ?? 0)) / amounts[name]) : 0;
  return (left(allocatable, "cpu") + left(allocatable, "memory")) / 2;
}
