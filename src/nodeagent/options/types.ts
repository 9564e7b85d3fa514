// Option types specific to the node agent: taints, reservations, eviction thresholds, CPU sets.

import { isLabelValue, isQualifiedName, parseQuantity } from "#base";
import type { Dialect } from "#dialect";
import {
  type OptionType,
  Refusal,
  duration,
  int32,
  kindOf,
  listOf,
  listed,
  mapOf,
  oneOf,
  quantity,
  struct,
  text,
  within,
} from "#options";

const effects = ["NoSchedule", "PreferNoSchedule", "NoExecute"] as const;
export interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: (typeof effects)[number];
}

function checkedTaint(taint: Taint): Taint {
  if (!isQualifiedName(taint.key)) throw new Refusal(`${JSON.stringify(taint.key)} is not a valid taint key`);
  if (taint.value && !isLabelValue(taint.value))
    throw new Refusal(`${JSON.stringify(taint.value)} is not a valid taint value`);
  return taint;
}
const taintFields = struct<Taint>({
  key: { type: text, required: true },
  value: { type: text },
  effect: { type: oneOf(...effects), required: true },
});
const taint: OptionType<Taint> = {
  ...taintFields,
  read: (value) => checkedTaint(taintFields.read(value)),
  parse: (given) => {
    const found = /^([^=:]+)(?:=([^:]*))?:([A-Za-z]+)$/.exec(given.trim());
    if (!found || !effects.includes(found[3] as Taint["effect"]))
      throw new Refusal(
        `must be <key>=<value>:<effect>, the effect one of ${effects.join(", ")}; ${JSON.stringify(given)} is not`,
      );
    return checkedTaint({
      key: found[1]!,
      ...(found[2] && { value: found[2] }),
      effect: found[3] as Taint["effect"],
    });
  },
  format: ({ key, value, effect }) => `${key}${value === undefined ? "" : `=${value}`}:${effect}`,
};
/** `key=value:effect,…`. */
export const taints = listOf(taint, "taints");

/** Resources that can be reserved on the node. */
export const reservedResources = ["cpu", "memory", "ephemeral-storage", "pid"] as const;
const amount: OptionType<string> = {
  ...quantity,
  parse: (given) => notNegative(quantity.parse(given)),
  read: (value) => notNegative(quantity.read(value)),
};
function notNegative(given: string): string {
  if (parseQuantity(given).value < 0n) throw new Refusal("must not be negative");
  return given;
}
export const reservation = mapOf(amount, { keys: reservedResources, name: "resource=quantity,..." });

export interface MemoryReservation {
  readonly numaNode: number;
  readonly limits: Readonly<Record<string, string>>;
}
function checkedReservation(reserved: MemoryReservation): MemoryReservation {
  if (reserved.numaNode < 0) throw new Refusal("must not be negative", ".numaNode");
  for (const [type, limit] of Object.entries(reserved.limits)) {
    if (type !== "memory" && !/^hugepages-.+$/.test(type))
      throw new Refusal(
        `the limit type ${JSON.stringify(type)} must be memory or hugepages-<size>`,
        `.limits[${type}]`,
      );
    if (parseQuantity(limit).value <= 0n)
      throw new Refusal("reserved memory must be above zero", `.limits[${type}]`);
  }
  return reserved;
}
const memoryFields = struct<MemoryReservation>({
  numaNode: { type: int32, required: true },
  limits: { type: mapOf(quantity), required: true },
});
const memoryReservation: OptionType<MemoryReservation> = {
  ...memoryFields,
  read: (value) => checkedReservation(memoryFields.read(value)),
  format: ({ numaNode, limits }) => `${numaNode}:${mapOf(quantity).format(limits)}`,
};
/** `0:memory=1Gi,hugepages-1M=2Gi;1:memory=…`. */
export const memoryReservations: OptionType<readonly MemoryReservation[]> = {
  ...listOf(memoryReservation, "numa:type=quantity,..."),
  parse: (given) =>
    given
      .split(";")
      .filter((part) => part.trim() !== "")
      .map((part) => {
        const found = /^\s*([0-9]{1,9}):(.+)$/.exec(part);
        if (!found)
          throw new Refusal(`must be <numa node>:<type>=<quantity>,…; ${JSON.stringify(part)} is not`);
        return checkedReservation({ numaNode: Number(found[1]), limits: mapOf(quantity).parse(found[2]!) });
      }),
  append: (before, given) => [...before, ...memoryReservations.parse(given)],
  format: (all) => all.map((one) => memoryReservation.format(one)).join(";"),
};

export const evictionSignals = [
  "memory.available",
  "nodefs.available",
  "nodefs.inodesFree",
  "imagefs.available",
  "imagefs.inodesFree",
  "allocatableMemory.available",
  "pid.available",
] as const;

/** A quantity, or a percentage such as `10%`. */
const threshold: OptionType<string> = {
  ...quantity,
  parse: checkedThreshold,
  read: (value) => {
    if (typeof value !== "string")
      throw new Refusal(`must be a quantity or a percentage, not ${kindOf(value)}`);
    return checkedThreshold(value);
  },
};
function checkedThreshold(given: string): string {
  const percent = /^([0-9]+(?:\.[0-9]+)?)%$/.exec(given);
  if (given.endsWith("%") ? !percent || Number(percent[1]) > 100 : parsedQuantity(given) <= 0n)
    throw new Refusal(
      `an eviction threshold must be a quantity above zero or a percentage from 0% to 100%, not ${JSON.stringify(given)}`,
    );
  return given;
}
function parsedQuantity(given: string): bigint {
  return parseQuantity(quantity.parse(given)).value;
}
/** `signal<threshold,…` as a flag, a mapping in the file. */
export const thresholds = mapOf(threshold, {
  separator: "<",
  keys: evictionSignals,
  name: "signal<threshold,...",
});
/** A minimum reclaim: like a threshold, but may be 0. */
const reclaim: OptionType<string> = {
  ...threshold,
  parse: (given) => (isZero(given) ? given : threshold.parse(given)),
  read: (value) => (typeof value === "string" && isZero(value) ? value : threshold.read(value)),
};
const isZero = (given: string): boolean => !given.endsWith("%") && parsedQuantity(given) === 0n;
export const reclaims = mapOf(reclaim, { keys: evictionSignals, name: "signal=quantity,..." });
const gracePeriod: OptionType<string> = {
  ...text,
  parse: (given) => checkedGrace(given),
  read: (value) => checkedGrace(text.read(value)),
};
function checkedGrace(given: string): string {
  if (duration.parse(given) < 0) throw new Refusal("must not be negative");
  return given;
}
export const gracePeriods = mapOf(gracePeriod, { keys: evictionSignals, name: "signal=duration,..." });

/** `memory=50%`. */
const percentage: OptionType<string> = {
  ...text,
  parse: checkedShare,
  read: (value) => checkedShare(text.read(value)),
};
function checkedShare(given: string): string {
  const found = /^([0-9]{1,3})%$/.exec(given);
  if (!found || Number(found[1]) > 100) throw new Refusal("must be a percentage from 0% to 100%");
  return given;
}
export const qosShares = mapOf(percentage, { keys: ["memory"], name: "resource=percentage,..." });

/** `0-3,5`; may be empty. */
export const cpuSet: OptionType<string> = {
  ...text,
  name: "cpus",
  parse: checkedCpus,
  read: (value) => checkedCpus(text.read(value)),
};
function checkedCpus(given: string): string {
  for (const part of given === "" ? [] : given.split(",")) {
    const found = /^([0-9]{1,6})(?:-([0-9]{1,6}))?$/.exec(part.trim());
    if (!found || (found[2] !== undefined && Number(found[2]) < Number(found[1])))
      throw new Refusal(`must be CPUs or ranges of them such as 0-3,5; ${JSON.stringify(part)} is not`);
  }
  return given;
}

/** Returns the CPUs of a set in ascending order. */
export function cpusOf(set: string): number[] {
  const cpus = new Set<number>();
  for (const part of set === "" ? [] : set.split(",")) {
    const [from = 0, to = from] = part.split("-").map(Number);
    for (let cpu = from; cpu <= to; cpu++) cpus.add(cpu);
  }
  return [...cpus].toSorted((a, b) => a - b);
}

/** Validates an absolute cgroup name; empty means unset. */
export const absoluteCgroup = (value: string): string | undefined =>
  value === "" || value.startsWith("/") ? undefined : "must be an absolute cgroup name that begins with /";

/** Returns enumerated values in the dialect's spelling; the resulting setting has the original spelling. */
export function dialectEnum<const V extends string>(
  dialect: Dialect,
  ...allowed: readonly V[]
): OptionType<V> {
  const { word } = dialect.spelling;
  const pick = (given: unknown): V => {
    const found = allowed.find((one) => one === given || word(one) === given);
    if (found === undefined) throw new Refusal(`must be ${listed(allowed.map((one) => word(one)))}`);
    return found;
  };
  return { ...oneOf(...allowed), parse: pick, read: pick, write: word, format: word };
}

/** Returns enumerated values that are matched case-insensitively. */
export function anyCase<const V extends string>(...allowed: readonly V[]): OptionType<V> {
  const plain = oneOf(...allowed);
  const fold = (given: unknown): unknown =>
    typeof given === "string"
      ? (allowed.find((word) => word.toLowerCase() === given.toLowerCase()) ?? given)
      : given;
  return {
    ...plain,
    parse: (given) => plain.parse(fold(given) as string),
    read: (value) => plain.read(fold(value)),
  };
}

/** The grace period of pods from this priority up to the next. */
export interface PriorityGrace {
  readonly priority: number;
  readonly shutdownGracePeriodSeconds: number;
}
export const priorityGraces = listOf(
  struct<PriorityGrace>({
    priority: { type: int32, required: true },
    shutdownGracePeriodSeconds: { type: int32, required: true },
  }),
  "list",
);

export interface Tracing {
  readonly endpoint?: string;
  readonly samplingRatePerMillion?: number;
}
const tracingFields = struct<Tracing>({ endpoint: { type: text }, samplingRatePerMillion: { type: int32 } });
export const tracing: OptionType<Tracing> = {
  ...tracingFields,
  read: (value) => {
    const read = tracingFields.read(value);
    const rate = read.samplingRatePerMillion ?? 0;
    within(".samplingRatePerMillion", () => {
      if (rate < 0 || rate > 1_000_000) throw new Refusal("must be from 0 to 1000000");
    });
    return read;
  },
};

export interface MemorySwap {
  readonly swapBehavior?: "" | "LimitedSwap" | "UnlimitedSwap";
}
export const memorySwap = struct<MemorySwap>({
  swapBehavior: { type: oneOf("", "LimitedSwap", "UnlimitedSwap") },
});
