// How fast an autoscaler may change the number of replicas: bounds, stabilization and policies.
import type { HorizontalPodAutoscaler } from "#api";

type Behavior = NonNullable<HorizontalPodAutoscaler["spec"]["behavior"]>;
type Rules = NonNullable<Behavior["scaleUp"]>;

export interface TimedValue {
  readonly at: number;
  readonly value: number;
}

/** What is remembered about one autoscaler between its syncs. */
export interface ScaleHistory {
  recommendations: TimedValue[];
  /** Replicas that were added, and that were removed. */
  added: TimedValue[];
  removed: TimedValue[];
}

export interface Limited {
  readonly replicas: number;
  readonly isLimited: boolean;
  readonly reason: string;
  readonly message: string;
  readonly isStabilized: boolean;
}

const defaultUp = {
  stabilizationWindowSeconds: 0,
  selectPolicy: "Max",
  policies: [
    { type: "Pods", value: 4, periodSeconds: 15 },
    { type: "Percent", value: 100, periodSeconds: 15 },
  ],
};
const defaultDown = {
  selectPolicy: "Max",
  policies: [{ type: "Percent", value: 100, periodSeconds: 15 }],
};

export interface LimitInput {
  readonly current: number;
  readonly desired: number;
  readonly min: number;
  readonly max: number;
  readonly behavior: Behavior | undefined;
  readonly downscaleWindowSeconds: number;
  readonly now: number;
}

export function limitReplicas(input: LimitInput, history: ScaleHistory): Limited {
  const { current, desired, min, max, behavior, now } = input;
  const up = { ...defaultUp, ...behavior?.scaleUp } as Rules;
  const down = { ...defaultDown, ...behavior?.scaleDown } as Rules;
  const downWindow = down.stabilizationWindowSeconds ?? input.downscaleWindowSeconds;
  const upWindow = up.stabilizationWindowSeconds ?? 0;
  const longest = Math.max(downWindow, upWindow) * 1000;
  history.recommendations = [
    ...history.recommendations.filter(({ at }) => now - at <= longest),
    { at: now, value: desired },
  ];
  const within = (seconds: number): number[] =>
    history.recommendations.filter(({ at }) => now - at <= seconds * 1000).map(({ value }) => value);
  const [upBound, downBound] = [
    Math.min(...within(upWindow), desired),
    Math.max(...within(downWindow), desired),
  ];
  let stabilized = current;
  if (stabilized < upBound) stabilized = upBound;
  if (stabilized > downBound) stabilized = downBound;
  const isStabilized = stabilized !== desired;
  const limited = rateLimited(stabilized, { ...input, up, down }, history);
  const bounded = Math.min(max, Math.max(min, limited));
  const [reason, message] = reasonFor(stabilized, limited, bounded, { min, max });
  return { replicas: bounded, isLimited: reason !== "DesiredWithinRange", reason, message, isStabilized };
}

function reasonFor(
  wanted: number,
  limited: number,
  bounded: number,
  { min, max }: { readonly min: number; readonly max: number },
): readonly [string, string] {
  if (wanted > max && bounded === max)
    return ["TooManyReplicas", "the desired replica count is more than the maximum replica count"];
  if (wanted < min && bounded === min)
    return ["TooFewReplicas", "the desired replica count is less than the minimum replica count"];
  if (limited < wanted)
    return ["ScaleUpLimit", "the desired replica count is increasing faster than the maximum scale rate"];
  if (limited > wanted)
    return ["ScaleDownLimit", "the desired replica count is decreasing faster than the maximum scale rate"];
  return ["DesiredWithinRange", "the desired count is within the acceptable range"];
}

function rateLimited(
  wanted: number,
  { current, up, down, now }: LimitInput & { readonly up: Rules; readonly down: Rules },
  { added, removed }: ScaleHistory,
): number {
  const changed = (events: readonly TimedValue[], seconds: number): number =>
    events.filter(({ at }) => now - at <= seconds * 1000).reduce((sum, { value }) => sum + value, 0);
  if (wanted > current) {
    if (up.selectPolicy === "Disabled") return current;
    const limits = (up.policies ?? []).map(({ type, value, periodSeconds }) => {
      const start = current - changed(added, periodSeconds) + changed(removed, periodSeconds);
      return type === "Pods" ? start + value : Math.ceil(start * (1 + value / 100));
    });
    const limit = up.selectPolicy === "Min" ? Math.min(...limits) : Math.max(...limits);
    return Math.min(wanted, Math.max(limit, current));
  }
  if (wanted < current) {
    if (down.selectPolicy === "Disabled") return current;
    const limits = (down.policies ?? []).map(({ type, value, periodSeconds }) => {
      const start = current - changed(added, periodSeconds) + changed(removed, periodSeconds);
      return type === "Pods" ? start - value : Math.trunc(start * (1 - value / 100));
    });
    const limit = down.selectPolicy === "Min" ? Math.max(...limits) : Math.min(...limits);
    return Math.max(wanted, Math.min(limit, current));
  }
  return wanted;
}
