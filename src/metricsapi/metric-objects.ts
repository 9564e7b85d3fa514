// Node and pod metrics as objects of the resource metrics API.
import { durationOfMillis, timeOfMillis } from "#base";
import type { AnyObject } from "#client";
import type { Node, Pod } from "#api";
import type { NodeUsageSource } from "./node-usage-source.ts";
import type { Usage } from "./usage.ts";

type SeenPod = Pod & AnyObject;

/** Returns NodeMetrics objects; nodes without known usage are omitted. */
export async function nodeMetrics(
  nodes: readonly (Node & AnyObject)[],
  figures: NodeUsageSource,
  now: number,
): Promise<object[]> {
  const usageByNode = await figures.of(nodes.map(({ metadata }) => metadata.name!));
  return nodes.flatMap((node) => {
    const usage = usageByNode.get(node.metadata.name!)?.node;
    return usage
      ? [{ metadata: metadataOf(node, now), ...intervalOf([usage]), usage: amountsOf(usage) }]
      : [];
  });
}

/** Returns PodMetrics objects; pods that are not running or without known usage are omitted. */
export async function podMetrics(
  pods: readonly SeenPod[],
  figures: NodeUsageSource,
  now: number,
): Promise<object[]> {
  const running = pods.filter(({ spec, status }) => status.phase === "Running" && spec.nodeName);
  const usageByNode = await figures.of([...new Set(running.map(({ spec }) => spec.nodeName!))]);
  return running.flatMap((pod) => {
    const { name, namespace } = pod.metadata;
    const containers = usageByNode.get(pod.spec.nodeName!)?.pods.get(`${namespace}/${name}`);
    if (!containers) return [];
    return [
      {
        metadata: metadataOf(pod, now),
        ...intervalOf([...containers.values()]),
        containers: [...containers].map(([container, usage]) => ({
          name: container,
          usage: amountsOf(usage),
        })),
      },
    ];
  });
}

const metadataOf = ({ metadata: { name, namespace, labels } }: AnyObject, now: number): object => ({
  name,
  ...(namespace && { namespace }),
  creationTimestamp: timeOfMillis(now),
  ...(labels && { labels }),
});

/** Returns timestamp and window: for several containers the earliest time and the longest window. */
const intervalOf = (usages: readonly Usage[]): object => ({
  timestamp: timeOfMillis(Math.min(...usages.map(({ at }) => at))),
  window: durationOfMillis(Math.max(...usages.map(({ windowMilliseconds }) => windowMilliseconds))),
});

const amountsOf = ({ nanoCores, memoryBytes }: Usage): object => ({
  cpu: nanoCores === 0 ? "0" : `${nanoCores}n`,
  memory:
    memoryBytes === 0 ? "0" : memoryBytes % 1024 === 0 ? `${memoryBytes / 1024}Ki` : String(memoryBytes),
});
