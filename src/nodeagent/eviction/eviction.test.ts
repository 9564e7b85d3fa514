import assert from "node:assert/strict";
import { test } from "node:test";
import { parseQuantity, silentLog, virtualClock } from "#base";
import { dialects } from "#dialect";
import { type Sketch, measuredPod } from "./eviction.fixture.ts";
import { type EvictionOptions, eviction } from "./eviction.ts";
import { type Signal, parseThresholds } from "./thresholds.ts";

const capacities: Readonly<Record<string, string>> = { memory: "16Gi", nodefs: "100Gi", pid: "1000" };

/** Sets up eviction on a node whose observations the test sets, and records its events and evictions. */
function node(
  pods: readonly Sketch[],
  settings: {
    readonly hard?: Readonly<Record<string, string>>;
    readonly soft?: Readonly<Record<string, string>>;
    readonly softGrace?: Readonly<Record<string, string>>;
    readonly minimumReclaim?: Readonly<Record<string, string>>;
  } & Partial<EvictionOptions>,
) {
  const clock = virtualClock();
  const { hard = {}, soft = {}, softGrace = {}, minimumReclaim = {}, ...more } = settings;
  const events: string[] = [];
  const evicted: { readonly uid: string; readonly graceSeconds?: number; readonly disruption?: object }[] =
    [];
  let readings: Readonly<Record<string, string>> = {};
  const measured = pods.map(measuredPod);
  const it = eviction({
    clock,
    log: silentLog,
    dialect: dialects.kubernetes,
    nodeName: "n1",
    thresholds: parseThresholds({ hard, soft, softGrace, minimumReclaim, enforcePods: false }),
    transitionMilliseconds: 300_000,
    maxPodGraceSeconds: 0,
    localStorage: true,
    disruptionConditions: true,
    events: {
      event: (_, type, reason, message, _action, { annotations } = {}) =>
        events.push([type, reason, message, ...(annotations ? [JSON.stringify(annotations)] : [])].join("|")),
    },
    observe: async () =>
      new Map(
        Object.entries(readings).map(([signal, available]) => [
          signal as Signal,
          {
            available: parseQuantity(available),
            capacity: parseQuantity(capacities[signal.split(".")[0]!]!),
            at: clock.now(),
          },
        ]),
      ),
    pods: () => measured.map(({ pod }) => pod),
    measure: async (requested) => measured.filter(({ pod }) => requested.includes(pod)),
    dedicatedImageFs: () => false,
    reclaimUnused: async () => void events.push("reclaimed"),
    evictor: { evict: async (uid, how) => void evicted.push({ uid, ...how }) },
    ...more,
  });
  return {
    events,
    evicted,
    pressures: it.pressures,
    it,
    pass: async (advanceSeconds: number, now: Readonly<Record<string, string>>) => {
      readings = now;
      await clock.advance(advanceSeconds * 1000);
      return (await it.pass(new AbortController().signal)).map(({ metadata }) => metadata.name);
    },
  };
}

const three: readonly Sketch[] = [
  { name: "best-effort", workingSet: "400Mi" },
  { name: "under", memory: "1Gi", workingSet: "500Mi" },
];

test("a hard threshold evicts one pod at once and its pressure lasts for the transition period afterwards", async () => {
  const { pass, pressures, events, evicted } = node(three, { hard: { "memory.available": "1Gi" } });
  assert.deepEqual(await pass(0, { "memory.available": "1Gi" }), []);
  assert.deepEqual(await pass(10, { "memory.available": "1000Mi" }), ["best-effort"]);
  const message =
    "The node was low on resource: memory. Threshold quantity: 1Gi, available: 1000Mi. " +
    "Container c was using 400Mi, request is 0, has larger consumption of memory. ";
  assert.deepEqual(events, [
    "Warning|EvictionThresholdMet|Attempting to reclaim memory",
    `Warning|Evicted|${message}|{"offending_containers":"c","offending_containers_usage":"400Mi","starved_resource":"memory"}`,
  ]);
  assert.deepEqual(evicted, [
    {
      uid: "best-effort",
      reason: "Evicted",
      message,
      graceSeconds: 0,
      disruption: { reason: "TerminationByKubelet", message },
    },
  ]);
  assert.deepEqual(await pass(299, { "memory.available": "2Gi" }), []);
  assert.deepEqual(pressures(), ["MemoryPressure"]);
  await pass(1, { "memory.available": "2Gi" });
  assert.deepEqual(pressures(), []);
});

test("a soft threshold is pressure at once, evicts after its grace period, and starts over after a recovery", async () => {
  const { pass, pressures, evicted } = node(three, {
    soft: { "memory.available": "2Gi" },
    softGrace: { "memory.available": "90s" },
    maxPodGraceSeconds: 15,
  });
  assert.deepEqual(await pass(0, { "memory.available": "1Gi" }), []);
  assert.deepEqual(pressures(), ["MemoryPressure"]);
  await pass(60, { "memory.available": "3Gi" });
  await pass(10, { "memory.available": "1Gi" });
  assert.deepEqual(await pass(89, { "memory.available": "1Gi" }), []);
  assert.deepEqual(await pass(1, { "memory.available": "1Gi" }), ["best-effort"]);
  assert.equal(evicted[0]!.graceSeconds, 15);
});

const softGraces: [name: string, thresholdGrace: string, maxPodGraceSeconds: number, graceSeconds: number][] =
  [
    ["is the configured one", "1s", 15, 15],
    ["is the configured one even if it is longer than the pod's own", "1s", 600, 600],
    ["is the pod's own if a negative one is configured", "1s", -1, 0],
    ["is the pod's own if none is configured", "1s", 0, 0],
    ["of a soft threshold without a grace period is that of a hard one", "0s", 15, 0],
  ];
// 0 seconds mean that the pod's own grace period applies.
for (const [name, thresholdGrace, maxPodGraceSeconds, graceSeconds] of softGraces)
  test(`the grace period of a soft eviction ${name}`, async () => {
    const { pass, evicted } = node(three, {
      soft: { "memory.available": "2Gi" },
      softGrace: { "memory.available": thresholdGrace },
      maxPodGraceSeconds,
    });
    await pass(0, { "memory.available": "1Gi" });
    await pass(1, { "memory.available": "1Gi" });
    assert.equal(evicted[0]!.graceSeconds, graceSeconds);
  });

test("a threshold stays met until its minimum reclaim is available", async () => {
  const { pass } = node(three, {
    hard: { "memory.available": "1Gi" },
    minimumReclaim: { "memory.available": "500Mi" },
  });
  assert.deepEqual(await pass(0, { "memory.available": "900Mi" }), ["best-effort"]);
  assert.deepEqual(await pass(10, { "memory.available": "1523Mi" }), ["best-effort"]);
  assert.deepEqual(await pass(10, { "memory.available": "1524Mi" }), []);
});

test("an observation that is not new evicts no further pod", async () => {
  const { pass } = node(three, { hard: { "memory.available": "1Gi" } });
  assert.deepEqual(await pass(0, { "memory.available": "900Mi" }), ["best-effort"]);
  assert.deepEqual(await pass(0, { "memory.available": "900Mi" }), []);
});

test("for disk, unused containers and images are removed first, and pods are evicted only if that is not enough", async () => {
  const disk: readonly Sketch[] = [{ name: "d", rootfs: "1Gi" }];
  const { pass, events } = node(disk, { hard: { "nodefs.available": "10Gi" } });
  assert.deepEqual(await pass(0, { "nodefs.available": "9Gi" }), ["d"]);
  assert.equal(events[1], "reclaimed");
  let free = "9Gi";
  const enough = node(disk, {
    hard: { "nodefs.available": "10Gi" },
    observe: async () =>
      new Map([
        ["nodefs.available", { available: parseQuantity(free), capacity: parseQuantity("100Gi"), at: 1 }],
      ]),
    reclaimUnused: async () => void (free = "20Gi"),
  });
  assert.deepEqual(await enough.pass(0, {}), []);
  assert.deepEqual(enough.pressures(), ["DiskPressure"]);
});

test("memory comes before process counts, and critical pods are not evicted", async () => {
  const { pass } = node(
    [
      { name: "critical", priority: 2_000_000_000, workingSet: "9Gi" },
      { name: "memory", workingSet: "2Gi" },
      { name: "forks", processes: 90 },
    ],
    { hard: { "pid.available": "100", "memory.available": "1Gi" } },
  );
  assert.deepEqual(await pass(0, { "pid.available": "50", "memory.available": "500Mi" }), ["memory"]);
  assert.deepEqual(await pass(1, { "pid.available": "50", "memory.available": "5Gi" }), ["forks"]);
});

test("every pod above its limit of local storage is evicted in one pass, before any threshold", async () => {
  const { pass, events, evicted } = node(
    [
      { name: "volume", volume: "11Mi", sizeLimit: "10Mi" },
      { name: "sum", rootfs: "6Mi", logs: "5Mi", storageLimit: "10Mi" },
      { name: "fine", rootfs: "6Mi", storageLimit: "10Mi" },
    ],
    { hard: { "memory.available": "1Gi" } },
  );
  assert.deepEqual(await pass(0, { "memory.available": "500Mi" }), ["volume", "sum"]);
  assert.deepEqual(events, [
    'Warning|Evicted|Usage of EmptyDir volume "v" exceeds the limit "10Mi". ',
    "Warning|Evicted|Pod ephemeral local storage usage exceeds the total limit of containers 10Mi. ",
  ]);
  assert.deepEqual(
    evicted.map(({ disruption }) => disruption),
    [undefined, undefined],
  );
});

test("priming sets the pressure before the first pass, which still evicts", async () => {
  const { it, pass, pressures } = node(three, {
    hard: { "memory.available": "1Gi" },
    observe: async () =>
      new Map([
        ["memory.available", { available: parseQuantity("1"), capacity: parseQuantity("1Gi"), at: 5 }],
      ]),
  });
  await it.prime(new AbortController().signal);
  assert.deepEqual(pressures(), ["MemoryPressure"]);
  assert.deepEqual(await pass(0, {}), ["best-effort"]);
});

test("the preview contains the order for each signal and evicts no pod", async () => {
  const { it, evicted } = node(three, { hard: { "memory.available": "1Gi", "pid.available": "10" } });
  const { order } = await it.preview(new AbortController().signal);
  assert.deepEqual([...order.keys()], ["memory.available", "pid.available"]);
  assert.deepEqual(
    order.get("memory.available")!.map(({ pod }) => pod.metadata.name),
    ["best-effort", "under"],
  );
  assert.deepEqual(evicted, []);
});

test("with memory watching, a pass follows within a second after a threshold is crossed", async () => {
  const clock = virtualClock();
  let available = "2Gi";
  const { it, evicted } = node(three, {
    clock,
    hard: { "memory.available": "1Gi" },
    watchMemory: true,
    observe: async () =>
      new Map([
        [
          "memory.available",
          { available: parseQuantity(available), capacity: parseQuantity("16Gi"), at: clock.now() },
        ],
      ]),
  });
  const stopping = new AbortController();
  const running = it.run(stopping.signal);
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  await turn();
  await clock.advance(2000);
  available = "500Mi";
  await clock.advance(1000);
  await turn();
  assert.deepEqual(
    evicted.map(({ uid }) => uid),
    ["best-effort"],
  );
  stopping.abort();
  await running;
});
