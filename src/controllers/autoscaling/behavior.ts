// Limits on scaling: bounds, stabilization windows and scaling policies.
import type { HorizontalPodAutoscaler } from "#api";

type Behavior = NonNullable<HorizontalPodAutoscaler["spec"]["behavior"]>;
type Rules = NonNullable<Behavior["scaleUp"]>;

export interface TimedValue {
  /** Time of the monotonic clock, in milliseconds. */
  readonly at: number;
  readonly value: number;
}

/** The state of one autoscaler kept between syncs. */
export interface ScaleHistory {
  recommendations: TimedValue[];
  /** Scale-up events, and scale-down events. */
  added: TimedValue[];
  removed: TimedValue[];
}

export interface Limited {
  readonly replicas: number;
  readonly isLimited: boolean;
  readonly reason: string;
  readonly message: string;
  /** The direction in which stabilization changed the recommendation. */
  readonly stabilized: "up" | "down" | undefined;
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
  /** Time of the monotonic clock, in milliseconds. */
  readonly now: number;
}

export function limitReplicas(input: LimitInput, history: ScaleHistory): Limited {
  return input.behavior ? limitByBehavior(input, input.behavior, history) : limitByDefault(input, history);
}

/**
 * Without a behavior, only scale-down is stabilized, and scale-up is limited to the larger of twice the
 * replicas and four.
 */
function limitByDefault(input: LimitInput, history: ScaleHistory): Limited {
  const { current, desired, downscaleWindowSeconds } = input;
  const recent = recordRecommendation(input, history, downscaleWindowSeconds);
  const stabilized = Math.max(...recent(downscaleWindowSeconds));
  const limited = Math.min(stabilized, Math.max(2 * current, 4));
  return bound(stabilized, limited, input, stabilized === desired ? undefined : "down");
}

function limitByBehavior(input: LimitInput, behavior: Behavior, history: ScaleHistory): Limited {
  const { current, desired } = input;
  const up = { ...defaultUp, ...behavior.scaleUp } as Rules;
  const down = { ...defaultDown, ...behavior.scaleDown } as Rules;
  const downWindow = down.stabilizationWindowSeconds ?? input.downscaleWindowSeconds;
  const upWindow = up.stabilizationWindowSeconds ?? 0;
  const recent = recordRecommendation(input, history, Math.max(downWindow, upWindow));
  const [upBound, downBound] = [Math.min(...recent(upWindow)), Math.max(...recent(downWindow))];
  let stabilized = current;
  if (stabilized < upBound) stabilized = upBound;
  if (stabilized > downBound) stabilized = downBound;
  const direction = desired >= current ? "up" : "down";
  const limited = rateLimited(stabilized, { ...input, up, down }, history);
  return bound(stabilized, limited, input, stabilized === desired ? undefined : direction);
}

/** Records the current recommendation; returns a lookup of the recommendations within a number of seconds. */
function recordRecommendation(
  { desired, now }: LimitInput,
  history: ScaleHistory,
  maxSeconds: number,
): (seconds: number) => number[] {
  const isWithin = (at: number, seconds: number): boolean => now - at <= seconds * 1000;
  history.recommendations = [
    ...history.recommendations.filter(({ at }) => isWithin(at, maxSeconds)),
    { at: now, value: desired },
  ];
  return (seconds) =>
    history.recommendations.filter(({ at }) => isWithin(at, seconds)).map(({ value }) => value);
}

function bound(
  wanted: number,
  limited: number,
  { min, max }: LimitInput,
  stabilized: Limited["stabilized"],
): Limited {
  const replicas = Math.min(max, Math.max(min, limited));
  const [reason, message] = reasonFor(wanted, limited, replicas, { min, max });
  return { replicas, isLimited: reason !== "DesiredWithinRange", reason, message, stabilized };
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
