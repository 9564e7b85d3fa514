// Adapters from recorded tables about behaviour over time: eviction from pass to pass, and image collection
// for images that were pulled and used at different times.
import type { Pod } from "#api";
import { parseQuantity, silentLog, virtualClock } from "#base";
import { dialectNamed } from "#dialect";
import { eviction } from "./eviction/eviction.ts";
import { type Signal, parseThresholds } from "./eviction/thresholds.ts";
import type { MeasuredPod } from "./eviction/usage.ts";
import { imageCollection } from "./images/image-collection.ts";
import { podAdmission } from "./node/admission.ts";

const dialect = dialectNamed("kubernetes")!;
const { signal } = new AbortController();
type Texts = Readonly<Record<string, string>>;

export interface EvictionRow {
  readonly hard?: Texts;
  readonly soft?: Texts;
  readonly softGrace?: Texts;
  readonly minReclaim?: Texts;
  readonly capacity?: Texts;
  readonly transitionSeconds: number;
  readonly maxPodGraceSeconds: number;
  readonly localStorage: boolean;
  readonly dedicatedImageFs?: boolean;
  readonly steps: readonly (Texts & { readonly advance: number })[];
}

/** The name of an amount in a recorded step, its signal, and its default capacity. */
const amounts: readonly (readonly [step: string, signal: Signal, capacity: string])[] = [
  ["memAvail", "memory.available", "16Gi"],
  ["nodeFs", "nodefs.available", "100Gi"],
  ["imageFs", "imagefs.available", "100Gi"],
  ["nodeInodes", "nodefs.inodesFree", "1M"],
  ["imageInodes", "imagefs.inodesFree", "1M"],
  ["pids", "pid.available", "1000"],
];

export async function evictionOverTime(
  row: EvictionRow,
  measured: readonly MeasuredPod[],
): Promise<unknown[]> {
  const { hard = {}, soft = {}, softGrace = {}, minReclaim: minimumReclaim = {} } = row;
  const clock = virtualClock();
  let step: Readonly<Record<string, unknown>> = {};
  let passResult: { events: string[]; evicted: string[]; isReclaimed: boolean; last: object };
  const it = eviction({
    clock,
    log: silentLog,
    dialect,
    nodeName: "n1",
    thresholds: parseThresholds({ hard, soft, softGrace, minimumReclaim, enforcePods: false }),
    transitionMilliseconds: row.transitionSeconds * 1000,
    maxPodGraceSeconds: row.maxPodGraceSeconds,
    localStorage: row.localStorage,
    disruptionConditions: true,
    events: {
      event: (_, type, reason, message, _action, { annotations } = {}) =>
        passResult.events.push(
          [type, reason, message, ...(annotations ? [goMap(annotations)] : [])].join(" "),
        ),
    },
    observe: async () =>
      new Map(
        amounts.map(([name, of, usual]) => {
          const capacity = row.capacity?.[of.split(".")[0]!] ?? usual;
          const available = parseQuantity(String(step[name] ?? capacity));
          return [of, { available, capacity: parseQuantity(capacity), at: clock.now() }];
        }),
      ),
    pods: () => measured.map(({ pod }) => pod),
    measure: async (requested) => measured.filter(({ pod }) => requested.includes(pod)),
    dedicatedImageFs: () => row.dedicatedImageFs ?? false,
    reclaimUnused: async () => void (passResult.isReclaimed = true),
    evictor: {
      evict: async (uid, { reason, message, graceSeconds, disruption }) => {
        passResult.evicted.push(uid);
        const target = { ...disruption, status: "True", type: "DisruptionTarget" };
        const conditions = disruption ? [target] : [];
        const status = { conditions, message, phase: "Failed", reason };
        passResult.last = { gracePeriodOverride: graceSeconds, lastKilled: uid, status };
      },
    },
  });
  const passes: unknown[] = [];
  for (step of row.steps) {
    passResult = { events: [], evicted: [], isReclaimed: false, last: {} };
    await clock.advance(Number(step["advance"]) * 1000);
    await it.pass(signal);
    const { events, evicted, isReclaimed, last } = passResult;
    passes.push({
      admit: admitted(it.pressures()),
      containerGC: isReclaimed,
      imageGC: isReclaimed,
      events,
      evicted,
      ...last,
      diskPressure: it.pressures().includes("DiskPressure"),
      memoryPressure: it.pressures().includes("MemoryPressure"),
      pidPressure: it.pressures().includes("PIDPressure"),
    });
  }
  return passes;
}

const goMap = (map: Texts): string =>
  `map[${Object.entries(map)
    .map(([key, value]) => `${key}:${value}`)
    .join(" ")}]`;

/** Returns which kinds of pods are admitted under pressure, and why the others are not. */
function admitted(pressures: readonly string[]): unknown {
  const { admit } = podAdmission({
    dialect,
    nodeName: "n1",
    labels: () => ({}),
    allocatable: () => ({ memory: "1Gi", pods: "1" }),
    taints: () => [],
    allowedUnsafeSysctls: [],
    localStorageIsolation: true,
    appArmor: false,
    pressures: () => pressures,
  });
  const container = (resources: object) => ({ containers: [{ name: "c", resources }] });
  const tolerations = [{ key: dialect.names.taints.memoryPressure, operator: "Exists" }];
  const specs = {
    bestEffort: container({}),
    bestEffortTolerating: { ...container({}), tolerations },
    burstable: container({ requests: { memory: "1Mi" } }),
    critical: { ...container({}), priority: 2_000_001_000 },
  };
  const results = Object.entries(specs).map(([name, spec]) => {
    const result = admit({ metadata: {}, spec, status: {} } as unknown as Pod, []);
    return [name, result.ok ? true : { message: result.message, reason: result.reason }];
  });
  return Object.fromEntries(results);
}

/** Collects images that were first seen and last used as long ago as the row says. */
export async function imageGc(row: {
  readonly high: number;
  readonly low: number;
  readonly minAgeSeconds: number;
  readonly capacity: number;
  readonly available: number;
  readonly deleteUnused?: boolean;
  readonly images: readonly {
    readonly id: string;
    readonly size: number;
    readonly firstSeenAgo: number;
    /** 0 if it was never seen in use. */
    readonly lastUsedAgo: number;
    readonly inUse?: boolean;
    readonly pinned?: boolean;
  }[];
}): Promise<unknown> {
  const moments = row.images.flatMap(({ firstSeenAgo, lastUsedAgo }) => [firstSeenAgo, lastUsedAgo]);
  const passes = [...new Set([...moments, 0])].toSorted((a, b) => b - a);
  const clock = virtualClock();
  const removed: string[] = [];
  const events: string[] = [];
  let ago = Infinity;
  const it = imageCollection({
    clock,
    log: silentLog,
    runtime: {
      listImages: async () =>
        row.images
          .filter(({ firstSeenAgo }) => firstSeenAgo >= ago)
          .map(
            ({ id, size, pinned = false }) => ({ id, repoTags: [], repoDigests: [], size, pinned }) as never,
          ),
      listContainers: async () =>
        row.images
          .filter(({ inUse, lastUsedAgo }) => inUse || (ago > 0 && lastUsedAgo === ago))
          .map(({ id }) => ({ imageRef: id }) as never),
      removeImage: async ({ image }) => void removed.push(image ?? ""),
    },
    events: { event: (_, type, reason, message) => events.push(`${type} ${reason} ${message}`) },
    node: { kind: "Node", name: "n1" },
    highPercent: row.high,
    lowPercent: row.low,
    minimumAgeMilliseconds: row.minAgeSeconds * 1000,
    maximumAgeMilliseconds: 0,
    sandboxImage: "",
    disk: async () =>
      ago > 0
        ? { capacityBytes: 100, availableBytes: 100 }
        : { capacityBytes: row.capacity, availableBytes: row.available },
  });
  // The first pass treats all existing images as old; it must find none.
  await it.collect(signal);
  for (const next of passes.filter((moment) => moment > 0)) {
    if (ago !== Infinity) await clock.advance((ago - next) * 1000);
    ago = next;
    await it.collect(signal);
  }
  if (ago !== Infinity) await clock.advance(ago * 1000);
  ago = 0;
  const error = await (row.deleteUnused ? it.removeUnused(signal) : it.collect(signal)).then(
    () => null,
    (problem: Error) => problem.message,
  );
  return { removed, error, events };
}
