// Formats as JSON what eviction would do now: signals, thresholds, and the eviction order of pods.
import { formatQuantity } from "#base";
import { keyOf } from "../pod.ts";
import type { EvictionPreview } from "./eviction.ts";
import { priorityOf } from "./rank.ts";
import { type Signal, isHard, thresholdQuantity } from "./thresholds.ts";
import { diskUseOf, requestOf, resourceOf, type MeasuredPod } from "./usage.ts";

export function previewJson(preview: EvictionPreview, dedicatedImageFs: boolean): string {
  const { observations, thresholds, met, pressures, order } = preview;
  return `${JSON.stringify(
    {
      pressures,
      signals: [...order].map(([signal, pods]) => {
        const observed = observations.get(signal);
        return {
          signal,
          ...(observed && {
            available: formatQuantity(observed.available),
            capacity: formatQuantity(observed.capacity),
          }),
          thresholds: thresholds
            .filter((one) => one.signal === signal)
            .map((one) => ({
              kind: isHard(one) ? "hard" : "soft",
              ...(observed && { quantity: formatQuantity(thresholdQuantity(one.value, observed.capacity)) }),
              graceSeconds: one.graceMilliseconds / 1000,
              met: met.includes(one),
            })),
          order: pods.map((pod) => entryOf(pod, signal, dedicatedImageFs)),
        };
      }),
    },
    undefined,
    2,
  )}\n`;
}

function entryOf({ pod, usage }: MeasuredPod, signal: Signal, dedicatedImageFs: boolean) {
  const resource = resourceOf[signal];
  const used =
    usage &&
    (resource === "memory"
      ? usage.workingSetBytes
      : resource === "pids"
        ? usage.processes
        : diskUseOf(usage, signal, dedicatedImageFs));
  return {
    pod: keyOf(pod),
    priority: priorityOf(pod),
    ...(used !== undefined && { used }),
    ...(resource !== "pids" && resource !== "inodes" && { requested: requestOf(pod, resource) }),
  };
}
