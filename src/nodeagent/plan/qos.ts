// The QoS class of a pod: Guaranteed, Burstable or BestEffort, from its CPU and memory requests and limits.
import type { Pod } from "#api";
import { compareQuantity, parseQuantity } from "#base";
import { containersOf, initContainersOf } from "../pod.ts";

export type QosClass = "Guaranteed" | "Burstable" | "BestEffort";

const counted = ["cpu", "memory"] as const;
const zero = parseQuantity("0");
const isAbove = (amount: string | undefined): amount is string =>
  amount !== undefined && compareQuantity(parseQuantity(amount), zero) > 0;

export function qosClass(pod: Pod): QosClass {
  let anything = false;
  let everything = true;
  for (const { resources } of [...initContainersOf(pod), ...containersOf(pod)]) {
    for (const name of counted) {
      const limit = resources?.limits?.[name];
      const request = resources?.requests?.[name];
      if (isAbove(limit) || isAbove(request)) anything = true;
      if (!isAbove(limit)) everything = false;
      else if (isAbove(request) && compareQuantity(parseQuantity(limit), parseQuantity(request)) !== 0)
        everything = false;
    }
  }
  if (!anything) return "BestEffort";
  return everything ? "Guaranteed" : "Burstable";
}
