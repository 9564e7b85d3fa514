// The message of an eviction in the pod status, and the annotations of its event.
import { runningContainers } from "#api";
import { type Quantity, compareQuantity, formatQuantity, parseQuantity, quantityOf } from "#base";
import type { Observations } from "./observations.ts";
import { type Threshold, thresholdQuantity } from "./thresholds.ts";
import { type ContainerUsage, type MeasuredPod, resourceOf } from "./usage.ts";

export interface EvictionMessage {
  readonly message: string;
  readonly annotations: Readonly<Record<string, string>>;
}

/** `thresholds` are those that cause the eviction; the first one is the one to reclaim for. */
export function evictionMessage(
  { pod, usage }: MeasuredPod,
  thresholds: readonly Threshold[],
  observations: Observations,
): EvictionMessage {
  const resource = resourceOf[thresholds[0]!.signal];
  let message = `The node was low on resource: ${resource}. ${crossedThresholdText(thresholds, observations, resource)}`;
  if (!usage) return { message, annotations: {} };
  const offenders: { readonly name: string; readonly used: string }[] = [];
  for (const container of usage.containers) {
    const spec = runningContainers(pod.spec).find(({ name }) => name === container.name);
    const used = usageFor(container, resource);
    const request = parseQuantity(spec?.resources?.requests?.[resource] ?? "0");
    if (!spec || !used || compareQuantity(used, request) <= 0) continue;
    const text = formatQuantity(used);
    message += `Container ${spec.name} was using ${text}, request is ${formatQuantity(request)}, has larger consumption of ${resource}. `;
    offenders.push({ name: spec.name, used: text });
  }
  return {
    message,
    annotations: {
      offending_containers: offenders.map(({ name }) => name).join(","),
      offending_containers_usage: offenders.map(({ used }) => used).join(","),
      starved_resource: resource,
    },
  };
}

function crossedThresholdText(
  thresholds: readonly Threshold[],
  observations: Observations,
  resource: string,
): string {
  for (const { signal, value } of thresholds) {
    const observed = observations.get(signal);
    if (resourceOf[signal] !== resource || !observed) continue;
    const quantity = formatQuantity(thresholdQuantity(value, observed.capacity));
    return `Threshold quantity: ${quantity}, available: ${formatQuantity(observed.available)}. `;
  }
  return "";
}

function usageFor(container: ContainerUsage, resource: string): Quantity | undefined {
  const bytes = (count: number): Quantity => quantityOf(count, 0, "BinarySI");
  if (resource === "memory") return bytes(container.workingSetBytes);
  if (resource === "ephemeral-storage") return bytes(container.rootfs.bytes + container.logs.bytes);
  return undefined;
}
