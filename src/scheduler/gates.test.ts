// Feature gates of the scheduler, enabled and disabled.
import assert from "node:assert/strict";
import { test } from "node:test";
import { kinds } from "#client";
import type { GivenGates } from "#options";
import { type SchedulerCluster, addNode, addPod, withScheduler } from "./cluster.fixture.ts";
import type { SeenNode, SeenPod } from "./node-info.ts";
import { findNode } from "./placement.ts";
import { defaultPlugins } from "./profile.ts";
import { snapshotOf } from "./snapshot.fixture.ts";

const namespace = "default";
const node = (name: string, zone: string, taints: object[] = []): SeenNode =>
  ({
    metadata: { name, labels: { zone } },
    spec: { taints },
    status: { allocatable: { cpu: "4", memory: "8Gi", pods: "10" } },
  }) as unknown as SeenNode;
const pod = (name: string, labels: object, spec: object = {}): SeenPod =>
  ({
    metadata: { name, namespace, uid: name, labels },
    spec: { containers: [{ name: "c", image: "i" }], ...spec },
    status: {},
  }) as unknown as SeenPod;
const spread = (more: object): object => ({
  topologySpreadConstraints: [
    {
      maxSkew: 1,
      topologyKey: "zone",
      whenUnsatisfiable: "DoNotSchedule",
      labelSelector: { matchLabels: { app: "a" } },
      ...more,
    },
  ],
});

const volumes = { claim: () => ({ spec: { accessModes: ["ReadWriteOncePod"] } }) as never };
const first = { app: "a", version: "1" };
const claim = { volumes: [{ name: "v", persistentVolumeClaim: { claimName: "c" } }] };
const out = [{ key: "k", effect: "NoSchedule" }];
const placed: [gate: string, entries: [SeenNode, SeenPod[]][], pod: SeenPod, on: string, off: string][] = [
  [
    "MatchLabelKeysInPodTopologySpread",
    [
      [node("n1", "a"), [pod("x", first), pod("y", first)]],
      [node("n2", "b", out), []],
    ],
    pod("p", { app: "a", version: "2" }, spread({ matchLabelKeys: ["version"] })),
    "n1",
    "none",
  ],
  [
    "MinDomainsInPodTopologySpread",
    [[node("n1", "a"), [pod("x", first)]]],
    pod("p", first, spread({ minDomains: 2 })),
    "none",
    "n1",
  ],
  [
    "NodeInclusionPolicyInPodTopologySpread",
    [
      [node("n1", "a"), [pod("x", first)]],
      [node("n2", "b", out), []],
    ],
    pod("p", first, spread({ nodeTaintsPolicy: "Honor" })),
    "n1",
    "none",
  ],
  ["ReadWriteOncePod", [[node("n1", "a"), [pod("x", first, claim)]]], pod("p", first, claim), "none", "n1"],
];
for (const [gate, entries, given, on, off] of placed)
  for (const [isOn, expected] of [
    [true, on],
    [false, off],
  ] as const)
    test(`the pod is placed on ${expected}, with ${gate}=${isOn}`, () => {
      // Binding of claims is not tested here.
      const plugins = defaultPlugins.filter(({ name }) => name !== "VolumeBinding");
      const found = findNode(given, snapshotOf(entries, { gates: { [gate]: isOn }, volumes }), {
        plugins,
        nominated: new Map(),
        random: () => 0,
        start: 0,
        percentageOfNodesToScore: 0,
      });
      assert.equal(found.node?.name ?? "none", expected);
    });

const withGates = (gates: GivenGates, run: (cluster: SchedulerCluster) => Promise<void>): Promise<void> =>
  withScheduler(
    async (cluster) => {
      await addNode(cluster.client, "n1");
      await run(cluster);
    },
    { gates, serverGates: ["InPlacePodVerticalScaling"] },
  );

for (const [isOn, reasons] of [
  [true, ["PreemptionByScheduler"]],
  [false, []],
] as const)
  test(`a preemption victim ${isOn ? "gets" : "does not get"} a disruption condition, with PodDisruptionConditions=${isOn}`, () =>
    withGates({ PodDisruptionConditions: isOn }, async ({ client, until }) => {
      const pods = client.of(kinds.pods);
      await addPod(client, "low", "2", {}, { finalizers: ["test.io/keep"] });
      await until(async () => (await pods.get("low", { namespace })).spec.nodeName);
      await client.of(kinds.priorityClasses).create({ metadata: { name: "high" }, value: 10 });
      await addPod(client, "vip", "2", { priorityClassName: "high" });
      const going = await until(async () => {
        const found = await pods.get("low", { namespace });
        return found.metadata.deletionTimestamp ? found : undefined;
      });
      const conditions = (going.status.conditions ?? []).filter(({ type }) => type === "DisruptionTarget");
      assert.deepEqual(
        conditions.map(({ reason }) => reason),
        reasons,
      );
      await pods.patch("low", "merge", { metadata: { finalizers: null } }, { namespace });
    }));

for (const [isOn, fits] of [
  [true, false],
  [false, true],
] as const)
  test(`allocated resources are ${isOn ? "" : "not "}counted in addition to requests, with InPlacePodVerticalScaling=${isOn}`, () =>
    withGates({ InPlacePodVerticalScaling: isOn }, async ({ client, until, metrics }) => {
      const pods = client.of(kinds.pods);
      await addPod(client, "a", "1", { nodeName: "n1" });
      const allocate = async (cpu: string): Promise<void> => {
        const given = { name: "c", image: "i", allocatedResources: { cpu } };
        await pods.patch(
          "a",
          "merge",
          { status: { phase: "Running", containerStatuses: [given], resize: "InProgress" } },
          { namespace, subresource: "status" },
        );
      };
      await allocate("2");
      await addPod(client, "b", "1");
      const found = await until(async () => {
        const { spec, status } = await pods.get("b", { namespace });
        const isRejected = status.conditions?.some(({ type }) => type === "PodScheduled");
        return spec.nodeName || isRejected ? { fits: Boolean(spec.nodeName) } : undefined;
      });
      assert.equal(found.fits, fits);
      await allocate("1");
      await until(async () => (await pods.get("b", { namespace })).spec.nodeName);
      // Resources that a pod gives up wake those that wait for them.
      assert.doesNotMatch(metrics(), /event="UnschedulableTimeout"/);
    }));

for (const [isOn, expected] of [
  [true, "SchedulingGated"],
  [false, "SchedulerError"],
] as const)
  test(`a gated pod is ${isOn ? "left alone" : "tried, which the server rejects"}, with PodSchedulingReadiness=${isOn}`, () =>
    withGates({ PodSchedulingReadiness: isOn }, async ({ client, until }) => {
      const pods = client.of(kinds.pods);
      await addPod(client, "gated", "100m", { schedulingGates: [{ name: "example.com/g" }] });
      await addPod(client, "after", "100m");
      await until(async () => (await pods.get("after", { namespace })).spec.nodeName);
      const reason = async () =>
        (await pods.get("gated", { namespace })).status.conditions?.find(
          ({ type }) => type === "PodScheduled",
        )?.reason;
      if (!isOn) await until(async () => (await reason()) === expected);
      assert.equal(await reason(), expected);
    }));
