import assert from "node:assert/strict";
import { test } from "node:test";
import type { Plugin, Snapshot } from "./framework.ts";
import { NodeInfo, type SeenNode, type SeenPod } from "./node-info.ts";
import { admits } from "./node-admission.ts";
import { failureText, findNode, nodesToFind } from "./placement.ts";
import { preempt } from "./preemption.ts";
import { defaultPlugins, profileFrom } from "./profile.ts";
import { snapshotOf } from "./snapshot.fixture.ts";

const node = (
  name: string,
  { cpu = "4", labels = {}, taints = [] as object[], unschedulable = false } = {},
) =>
  ({
    metadata: { name, labels: { "orch.io/hostname": name, ...labels } },
    spec: { taints, unschedulable },
    status: { allocatable: { cpu, memory: "8Gi", pods: "10" } },
  }) as unknown as SeenNode;
let uid = 0;
const pod = (name: string, { cpu = "1", spec = {}, labels = {}, priority = 0 } = {}) =>
  ({
    metadata: {
      name,
      namespace: "default",
      uid: `u${uid++}`,
      labels,
      creationTimestamp: "2030-01-01T00:00:00Z",
    },
    spec: { priority, containers: [{ name: "c", image: "i", resources: { requests: { cpu } } }], ...spec },
    status: {},
  }) as unknown as SeenPod;
const options = { plugins: defaultPlugins, nominated: new Map(), random: () => 0 };
const anti = {
  podAntiAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: [
      { topologyKey: "orch.io/hostname", labelSelector: { matchLabels: { app: "a" } } },
    ],
  },
};
const named = (...fields: string[][]) => ({
  nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [
        { matchFields: fields.map((values) => ({ key: "metadata.name", operator: "In", values })) },
      ],
    },
  },
});
const near = {
  podAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: [
      { topologyKey: "zone", labelSelector: { matchLabels: { app: "a" } } },
    ],
  },
};
const spread = [
  {
    topologyKey: "zone",
    maxSkew: 1,
    whenUnsatisfiable: "DoNotSchedule",
    labelSelector: { matchLabels: { app: "a" } },
  },
];
const a = { labels: { app: "a" } };

const cases: [name: string, given: SeenPod, entries: [SeenNode, SeenPod[]][], expected: string][] = [
  [
    "the emptier node is chosen",
    pod("p"),
    [
      [node("x"), [pod("q")]],
      [node("y"), []],
    ],
    "y",
  ],
  [
    "a pod that is too large is not placed",
    pod("p", { cpu: "5" }),
    [[node("x"), []]],
    "0/1 nodes are available: 1 Insufficient cpu.",
  ],
  [
    "an unschedulable node is skipped",
    pod("p"),
    [[node("x", { unschedulable: true }), []]],
    "0/1 nodes are available: 1 node(s) were unschedulable.",
  ],
  [
    "a taint repels pods",
    pod("p"),
    [[node("x", { taints: [{ key: "k", value: "v", effect: "NoSchedule" }] }), []]],
    "0/1 nodes are available: 1 node(s) had untolerated taint {k: v}.",
  ],
  [
    "a node selector must match",
    pod("p", { spec: { nodeSelector: { zone: "z" } } }),
    [
      [node("x"), []],
      [node("y", { labels: { zone: "z" } }), []],
    ],
    "y",
  ],
  [
    "nodes that a pod does not name have no reasons",
    pod("p", { cpu: "9", spec: { affinity: named(["x"]) } }),
    [
      [node("x"), []],
      [node("y"), []],
    ],
    "0/2 nodes are available: 1 Insufficient cpu.",
  ],
  [
    "a pod may name a missing node",
    pod("p", { spec: { affinity: named(["gone"]) } }),
    [[node("x"), []]],
    "0/1 nodes are available:",
  ],
  [
    "names that exclude each other are a conflict",
    pod("p", { spec: { affinity: named(["x"], ["y"]) } }),
    [[node("x"), []]],
    "0/1 nodes are available: pod affinity terms conflict.",
  ],
  [
    "the nominated node is tried first",
    { ...pod("p"), status: { nominatedNodeName: "y" } },
    [
      [node("x"), []],
      [node("y"), [pod("q"), pod("r")]],
    ],
    "y",
  ],
  [
    "a host port can be used only once",
    pod("p", { spec: { containers: [{ name: "c", ports: [{ hostPort: 80 }] }] } }),
    [[node("x"), [pod("q", { spec: { containers: [{ name: "c", ports: [{ hostPort: 80 }] }] } })]]],
    "0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports.",
  ],
  [
    "anti-affinity separates pods",
    pod("p", { ...a, spec: { affinity: anti } }),
    [
      [node("x"), [pod("q", a)]],
      [node("y"), [pod("r"), pod("s")]],
    ],
    "y",
  ],
  [
    "anti-affinity of existing pods counts too",
    pod("p", a),
    [[node("x"), [pod("q", { ...a, spec: { affinity: anti } })]]],
    "0/1 nodes are available: 1 node(s) didn't satisfy existing pods anti-affinity rules.",
  ],
  [
    "affinity places pods together",
    pod("p", { spec: { affinity: near } }),
    [
      [node("x", { labels: { zone: "1" } }), []],
      [node("y", { labels: { zone: "2" } }), [pod("q", a)]],
    ],
    "y",
  ],
  [
    "a hard spread constraint is enforced",
    pod("p", { ...a, spec: { topologySpreadConstraints: spread } }),
    [
      [node("x", { labels: { zone: "1" } }), [pod("q", a)]],
      [node("y", { labels: { zone: "2" } }), []],
    ],
    "y",
  ],
  [
    "a missing claim is reported by name",
    pod("p", { spec: { volumes: [{ name: "v", persistentVolumeClaim: { claimName: "c" } }] } }),
    [[node("x"), []]],
    '0/1 nodes are available: persistentvolumeclaim "c" not found.',
  ],
];
for (const [name, given, entries, expected] of cases)
  test(name, () => {
    const found = findNode(given, snapshotOf(entries), options);
    assert.equal(found.node?.name ?? failureText(found.failures!), expected);
  });

/** Returns a snapshot in which claim c-NODE is bound to a volume of that node. */
function withVolumes(entries: [SeenNode, SeenPod[]][]): Snapshot {
  const snapshot = snapshotOf(entries);
  const on = (values: string[]) => [
    { matchExpressions: [{ key: "orch.io/hostname", operator: "In", values }] },
  ];
  const claim = (_: string, name: string) => ({
    metadata: { annotations: { "pv.orch.io/bind-completed": "yes" } },
    spec: { volumeName: name.slice("c-".length) },
    status: { phase: "Bound" },
  });
  const volume = (name: string) => ({
    metadata: { name },
    spec: { nodeAffinity: { required: { nodeSelectorTerms: on([name]) } } },
  });
  return { ...snapshot, volumes: { ...snapshot.volumes, claim, volume } as never };
}
const using = (...claims: string[]) => ({
  volumes: claims.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })),
});
const none = "No preemption victims found for incoming pod";

const placed: [name: string, given: SeenPod, text: string, preemption: string][] = [
  [
    "nodes other than that of the pod's volume have no reasons",
    pod("p", { cpu: "9", spec: using("c-x") }),
    "1 Insufficient cpu",
    `1 ${none}, 1 Preemption is not helpful for scheduling`,
  ],
  [
    "a volume on a node that the pod does not want is a conflict of two plugins",
    pod("p", { spec: { ...using("c-x"), affinity: named(["y"]) } }),
    "node(s) didn't satisfy plugin(s) [NodeAffinity VolumeBinding] simultaneously",
    `2 ${none}`,
  ],
  [
    "volumes on two nodes are a conflict of one plugin",
    pod("p", { spec: using("c-x", "c-y") }),
    "node(s) didn't satisfy plugin VolumeBinding",
    `2 ${none}`,
  ],
];
for (const [name, given, text, preemption] of placed)
  test(name, () => {
    const snapshot = withVolumes([
      [node("x"), []],
      [node("y"), []],
    ]);
    const { failures } = findNode(given, snapshot, options);
    assert.equal(failureText(failures!), `0/2 nodes are available: ${text}.`);
    const result = preempt(given, snapshot, failures!, { ...options, budgets: [] });
    const message = "message" in result ? result.message : "";
    assert.equal(message, `preemption: 0/2 nodes are available: ${preemption}.`);
  });

test("resources reserved for a nominated pod of higher priority are not given away", () => {
  const promised = pod("high", { cpu: "3", priority: 10 });
  const found = findNode(pod("low", { cpu: "2" }), snapshotOf([[node("x"), []]]), {
    ...options,
    nominated: new Map([["x", [promised]]]),
  });
  assert.equal(found.node, undefined);
});

test("a node is not given to a pod that a plugin rejects as a whole once a nominated pod runs there", () => {
  const plugin: Plugin = {
    name: "Alone",
    requeueEvents: [],
    view: () => ({
      withNode: (_, { pods }) =>
        pods.size > 0
          ? { rejectsPod: { plugin: "Alone", reasons: ["pod(s) run already"], isFinal: false } }
          : {},
    }),
  };
  const given = {
    ...options,
    plugins: [plugin],
    nominated: new Map([["x", [pod("high", { priority: 10 })]]]),
  };
  const { failures } = findNode(pod("low"), snapshotOf([[node("x"), []]]), given);
  assert.deepEqual(failures?.byNode.get("x")?.reasons, ["pod(s) run already"]);
});

test("preemption chooses the node with the least important victims, and no more victims than needed", () => {
  const entries: [SeenNode, SeenPod[]][] = [
    [node("x"), [pod("v1", { cpu: "4", priority: 5 })]],
    [node("y"), [pod("v2", { cpu: "2", priority: 1 }), pod("v3", { cpu: "2", priority: 1 })]],
  ];
  const high = pod("high", { cpu: "2", priority: 100 });
  const snapshot = snapshotOf(entries);
  const { failures } = findNode(high, snapshot, options);
  const result = preempt(high, snapshot, failures!, {
    plugins: defaultPlugins,
    nominated: new Map(),
    budgets: [],
  });
  assert.deepEqual([result.candidate?.node, result.candidate?.victims.length], ["y", 1]);
  const never = { ...high, spec: { ...high.spec, preemptionPolicy: "Never" } } as SeenPod;
  const none = preempt(never, snapshot, failures!, {
    plugins: defaultPlugins,
    nominated: new Map(),
    budgets: [],
  });
  assert.equal(none.candidate, undefined);
});

const preempted = { type: "DisruptionTarget", status: "True", reason: "PreemptionByScheduler" };
for (const [name, conditions, expected] of [
  ["a victim", [preempted], "preemption: not eligible due to a terminating pod on the nominated node."],
  ["another pod", [], "x"],
] as const)
  test(`whether a pod preempts again while ${name} terminates on its nominated node`, () => {
    const ending = pod("ending", { cpu: "2" });
    ending.metadata.deletionTimestamp = "2030-01-01T00:00:00Z";
    ending.status = { conditions } as never;
    const high = pod("high", { cpu: "3", priority: 100 });
    high.status.nominatedNodeName = "x";
    const snapshot = snapshotOf([[node("x"), [ending, pod("low", { cpu: "2" })]]]);
    const { failures } = findNode(high, snapshot, options);
    const result = preempt(high, snapshot, failures!, { ...options, budgets: [] });
    assert.equal(result.candidate ? result.candidate.node : result.message, expected);
  });

test("preemption prepares plugins once, and compares no more nodes than wanted", () => {
  let prepared = 0;
  const simulated = new Set<string>();
  const plugin: Plugin = {
    name: "Counting",
    requeueEvents: [],
    view: () => {
      prepared++;
      return { withNode: (_, { name }) => (simulated.add(name), {}) };
    },
  };
  const entries = Array.from({ length: 200 }, (_, index): [SeenNode, SeenPod[]] => [
    node(`n${index}`),
    [pod(`v${index}`, { cpu: "4" })],
  ]);
  const high = pod("high", { cpu: "2", priority: 100 });
  const given = { ...options, plugins: [...defaultPlugins, plugin] };
  const { failures } = findNode(high, snapshotOf(entries), given);
  prepared = 0;
  const result = preempt(high, snapshotOf(entries), failures!, {
    ...given,
    budgets: [],
    limits: { percentage: 10, absolute: 5 },
    random: () => 0.975,
  });
  assert.equal(prepared, 1);
  assert.equal(simulated.size, 20);
  assert.ok(simulated.has("n195") && simulated.has("n14"));
  assert.equal(result.candidate?.victims.length, 1);
});

test("of many nodes only a percentage is checked", () => {
  assert.deepEqual(
    [nodesToFind(50), nodesToFind(100), nodesToFind(1000), nodesToFind(10_000)],
    [50, 100, 420, 500],
  );
});
test("a profile disables plugins, and an unknown plugin is an error", () => {
  assert.equal(profileFrom({ disabled: ["ImageLocality"] }).plugins.length, defaultPlugins.length - 1);
  assert.throws(() => profileFrom({ disabled: ["Nothing"] }), /unknown scheduler plugin Nothing/);
});

test("a node wakes only pods that it could run", () => {
  const empty = snapshotOf([]);
  const tainted = new NodeInfo(node("x", { taints: [{ key: "new", effect: "NoSchedule" }] }), []);
  const open = new NodeInfo(node("x"), [pod("q", { cpu: "3" })]);
  assert.equal(admits(tainted, pod("p"), empty), false);
  assert.equal(admits(open, pod("p"), empty), true);
  assert.equal(admits(open, pod("p", { cpu: "2" }), empty), false);
  assert.equal(admits(open, pod("p", { spec: { nodeSelector: { zone: "z" } } }), empty), false);
  assert.equal(admits(undefined, pod("p"), empty), false);
});
