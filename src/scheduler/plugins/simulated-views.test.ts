// Plugins whose view depends on the pods of several nodes adjust it as if it were prepared again.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Plugin, PodView } from "../framework.ts";
import { NodeInfo, type SeenNode, type SeenPod } from "../node-info.ts";
import { snapshotOf } from "../snapshot.fixture.ts";
import { volumeRestrictions } from "../volumes/volume-plugins.ts";
import { interPodAffinity } from "./inter-pod-affinity.ts";
import { topologySpread } from "./topology-spread.ts";

let state = 1;
/** Returns a repeatable sequence of numbers below the limit. */
const next = (limit: number): number => {
  state = (state * 48_271) % 2_147_483_647;
  return state % limit;
};
const oneOf = <T>(values: readonly T[]): T => values[next(values.length)]!;
const some = <T>(make: () => T): T[] => Array.from({ length: next(3) }, make);

const term = () => ({
  topologyKey: oneOf(["host", "zone"]),
  labelSelector: { matchLabels: { app: oneOf(["a", "b"]) } },
});
let count = 0;
const pod = (): SeenPod =>
  ({
    metadata: {
      name: `p${count}`,
      namespace: oneOf(["x", "x", "y"]),
      uid: `u${count++}`,
      labels: { app: oneOf(["a", "b", "c"]) },
      ...(next(5) === 0 && { deletionTimestamp: "2030-01-01T00:00:00Z" }),
    },
    spec: {
      containers: [],
      volumes: some(() => ({ name: "v", persistentVolumeClaim: { claimName: oneOf(["c", "d"]) } })),
      affinity: {
        podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: next(3) === 0 ? some(term) : [] },
        podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: some(term) },
      },
      topologySpreadConstraints: some(() => ({
        ...term(),
        maxSkew: 1 + next(2),
        whenUnsatisfiable: "DoNotSchedule",
        ...(next(3) === 0 && { minDomains: 3 }),
        ...(next(3) === 0 && { nodeTaintsPolicy: "Honor" }),
      })),
    },
    status: {},
  }) as unknown as SeenPod;
const node = (name: string): SeenNode =>
  ({
    metadata: { name, labels: { host: name, ...(next(6) > 0 && { zone: oneOf(["1", "2"]) }) } },
    spec: { taints: next(4) === 0 ? [{ key: "k", effect: "NoSchedule" }] : [] },
    status: {},
  }) as unknown as SeenNode;

const volumes = {
  claim: () => ({ spec: { accessModes: ["ReadWriteOncePod"] } }) as never,
};
const plugins = [interPodAffinity(1, false), topologySpread("System"), volumeRestrictions];
for (const plugin of plugins)
  test(`${plugin.name} adjusts its view to the pods of a node`, () => {
    let rejections = 0;
    for (let round = 0; round < 300; round++) rejections += compare(plugin);
    assert.ok(rejections > 100, `${rejections} rejections`);
  });

/** Changes the pods of a node twice, and compares; returns the number of rejections. */
function compare(plugin: Plugin): number {
  const entries = ["n1", "n2", "n3", "n4"].map((name) => [node(name), some(pod)] as [SeenNode, SeenPod[]]);
  const given = pod();
  const at = next(entries.length);
  let before = new NodeInfo(...entries[at]!);
  let view: PodView = plugin.view!(given, snapshotOf(entries, { volumes }));
  let rejections = 0;
  for (const pods of [some(pod), [...entries[at]![1], pod()]]) {
    const after = new NodeInfo(entries[at]![0], pods);
    view = view.withNode?.(before, after) ?? view;
    before = after;
    entries[at]![1] = pods;
    const snapshot = snapshotOf(entries, { volumes });
    const fresh = plugin.view!(given, snapshot);
    for (const each of snapshot.nodes.values()) {
      const expected = fresh.filter?.(each);
      assert.deepEqual(view.filter?.(each), expected);
      if (expected) rejections++;
    }
  }
  return rejections;
}
