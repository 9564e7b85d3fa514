// The maximum resources a pod's containers request at one time. Amounts are integers: CPU in millicores,
// everything else in units.
import { type Container, type Pod, peakUsage, numbers } from "#api";
import { parseQuantity, quantityMilliValue, quantityValue } from "#base";
import { containersOf, initContainersOf } from "../pod.ts";

export type ResourceKind = "requests" | "limits";

export const resourceAmount = (name: string, amount: string | undefined): number => {
  if (amount === undefined) return 0;
  return name === "cpu" ? quantityMilliValue(parseQuantity(amount)) : quantityValue(parseQuantity(amount));
};

export const containerResource = ({ resources }: Container, kind: ResourceKind, name: string): number =>
  resourceAmount(name, resources?.[kind]?.[name]);

export const podResource = (pod: Pod, kind: ResourceKind, name: string): number =>
  peakUsage(pod.spec, (container) => containerResource(container, kind, name), numbers);

/** Returns the pod overhead: the cost of running the pod in addition to its containers. */
export const podOverhead = (pod: Pod, name: string): number =>
  resourceAmount(name, pod.spec.overhead?.[name]);

/** Returns all requests of a pod, including its overhead. */
export function podRequests(pod: Pod): Map<string, number> {
  const names = new Set([
    ...[...containersOf(pod), ...initContainersOf(pod)].flatMap(({ resources }) =>
      Object.keys(resources?.requests ?? {}),
    ),
    ...Object.keys(pod.spec.overhead ?? {}),
  ]);
  return new Map(
    [...names].map((name) => [name, podResource(pod, "requests", name) + podOverhead(pod, name)]),
  );
}
