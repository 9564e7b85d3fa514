import assert from "node:assert/strict";
import { test } from "node:test";
import { dialects } from "#dialect";
import { schedulerConfiguration } from "./configuration.ts";
import { nodesToFind } from "./placement.ts";
import { type ScoringStrategy, allocationScore } from "./plugins/resources.ts";
import { defaultPlugins } from "./profile.ts";

const head = "apiVersion: orchscheduler.config.orch.io/v1\nkind: OrchSchedulerConfiguration\n";
const read = (text: string) => schedulerConfiguration(head + text, dialects.orch);
const named = (plugins: readonly { readonly name: string }[]): string[] => plugins.map(({ name }) => name);

test("an empty file yields the default scheduler", () => {
  const { profiles, backoff } = read("");
  assert.deepEqual(backoff, { initialMilliseconds: 1000, maxMilliseconds: 10_000 });
  assert.equal(profiles[0]!.schedulerName, "default-scheduler");
  assert.equal(profiles[0]!.preempts, true);
  assert.deepEqual(named(profiles[0]!.plugins), named(defaultPlugins));
});

test("the other dialect uses the names of the original, in both versions", () => {
  for (const version of ["v1", "v1beta3"])
    schedulerConfiguration(
      `apiVersion: kubescheduler.config.k8s.io/${version}\nkind: KubeSchedulerConfiguration\n`,
      dialects.kubernetes,
    );
});

test("profiles configure plugins, weights and preemption", () => {
  const { profiles } = read(`
percentageOfNodesToScore: 30
profiles:
- schedulerName: a
  plugins:
    score: { disabled: [{ name: "*" }], enabled: [{ name: ImageLocality, weight: 7 }] }
    filter: { disabled: [{ name: ImageLocality }, { name: NodePorts }] }
    postFilter: { disabled: [{ name: DefaultPreemption }] }
- schedulerName: b
  percentageOfNodesToScore: 60
  plugins:
    multiPoint: { disabled: [{ name: InterPodAffinity }], enabled: [{ name: TaintToleration, weight: 9 }] }
`);
  const [a, b] = profiles;
  assert.deepEqual(
    a!.plugins.filter(({ scorer }) => scorer).map(({ name, weight }) => [name, weight]),
    [["ImageLocality", 7]],
  );
  assert.equal(named(a!.plugins).includes("NodePorts"), false);
  assert.deepEqual([a!.preempts, a!.percentageOfNodesToScore, b!.percentageOfNodesToScore], [false, 30, 60]);
  assert.equal(named(b!.plugins).includes("InterPodAffinity"), false);
  assert.equal(b!.plugins.find(({ name }) => name === "TaintToleration")?.weight, 9);
});

test("lists without effect are accepted, and so is disabling cloud plugins", () => {
  const plugins = read(`
profiles:
- plugins:
    permit: {}
    postBind: { enabled: [], disabled: [] }
    queueSort: { disabled: [{ name: "*" }], enabled: [{ name: PrioritySort }] }
    filter: { disabled: [{ name: OfAnotherRelease }] }
    multiPoint: { disabled: [{ name: OfAnotherRelease }] }
`).profiles[0]!.plugins;
  assert.deepEqual(named(plugins), named(defaultPlugins));
});

test("a resource of weight 0 has weight 1", () => {
  read(
    "profiles: [{ pluginConfig: [{ name: NodeResourcesFit, args: { scoringStrategy: { type: MostAllocated, resources: [{ name: cpu, weight: 0 }] } } }] }]",
  );
});

test("leader election, backoffs and the client config are read", () => {
  const found = read(`
podInitialBackoffSeconds: 2
podMaxBackoffSeconds: 20
clientConnection: { orchconfig: /etc/scheduler.conf }
leaderElection: { leaderElect: false, leaseDuration: 20s, resourceName: other }
`);
  assert.deepEqual(found.backoff, { initialMilliseconds: 2000, maxMilliseconds: 20_000 });
  assert.equal(found.clientConfig, "/etc/scheduler.conf");
  assert.deepEqual(found.leaderElection, {
    leaderElect: false,
    leaseMilliseconds: 20_000,
    resourceName: "other",
  });
});

test("the number of nodes that preemption compares is read", () => {
  const { profiles } = read(
    "profiles: [{ pluginConfig: [{ name: DefaultPreemption, args: { minCandidateNodesPercentage: 0 } }] }]",
  );
  assert.deepEqual(profiles[0]!.candidateLimits, { percentage: 0, absolute: 100 });
});

const wrong: [name: string, text: string, message: RegExp][] = [
  [
    "preemption that compares no nodes",
    "profiles: [{ pluginConfig: [{ name: DefaultPreemption, args: { minCandidateNodesPercentage: 0, minCandidateNodesAbsolute: 0 } }] }]",
    /minCandidateNodesAbsolute: must not be 0/,
  ],
  ["an unknown field", "profiles: [{ plugin: {} }]", /unknown field "profiles\[0\]\.plugin"/],
  ["a duplicate key", "podMaxBackoffSeconds: 3\npodMaxBackoffSeconds: 3", /already set/],
  ["a value of the wrong type", "podMaxBackoffSeconds: many", /podMaxBackoffSeconds: must be a whole number/],
  [
    "a plugin that does not exist",
    "profiles: [{ plugins: { score: { enabled: [{ name: X }] } } }]",
    /plugins\.score\.enabled\[0\]\.name: unknown plugin "X"/,
  ],
  [
    "disabling a required plugin",
    "profiles: [{ plugins: { multiPoint: { disabled: [{ name: DefaultBinder }] } } }]",
    /"DefaultBinder" cannot be disabled/,
  ],
  [
    "an extension point without a list",
    "profiles: [{ plugins: { reserve: { disabled: [{ name: VolumeBinding }] } } }]",
    /plugins\.reserve: this extension point cannot be configured/,
  ],
  [
    "a queue without an order",
    'profiles: [{ plugins: { multiPoint: { disabled: [{ name: "*" }] } } }]',
    /"PrioritySort" cannot be disabled.*"DefaultBinder" cannot be disabled/,
  ],
  [
    "a plugin at an extension point it does not implement",
    "profiles: [{ plugins: { filter: { enabled: [{ name: ImageLocality }] } } }]",
    /filter\.enabled\[0\]\.name: plugin "ImageLocality" does not implement filter/,
  ],
  [
    "a plugin that is named twice",
    "profiles: [{ plugins: { score: { enabled: [{ name: ImageLocality }, { name: ImageLocality }] } } }]",
    /score\.enabled\[1\]\.name: Duplicate value: "ImageLocality"/,
  ],
  [
    "a lease that ends before its renewal",
    "leaderElection: { leaseDuration: 5s, renewDeadline: 10s }",
    /leaseDuration: must be greater than renewDeadline/,
  ],
  [
    "arguments of another kind",
    "profiles: [{ pluginConfig: [{ name: InterPodAffinity, args: { kind: NodeAffinityArgs } }] }]",
    /args\.kind: must be InterPodAffinityArgs/,
  ],
  [
    "a strategy without a type",
    "profiles: [{ pluginConfig: [{ name: NodeResourcesFit, args: { scoringStrategy: {} } }] }]",
    /scoringStrategy\.type: must be one of LeastAllocated/,
  ],
  [
    "invalid names of resources and groups",
    "profiles: [{ pluginConfig: [{ name: NodeResourcesFit, args: { ignoredResources: [a b], ignoredResourceGroups: [x/y] } }] }]",
    /ignoredResources\[0\]: "a b" is not a qualified name.*ignoredResourceGroups\[0\]: "x\/y"/,
  ],
  [
    "weighted or duplicate resources for balanced allocation",
    "profiles: [{ pluginConfig: [{ name: NodeResourcesBalancedAllocation, args: { resources: [{ name: cpu, weight: 2 }, { name: cpu }] } }] }]",
    /resources\[0\]\.weight: must be 1.*resources\[1\]\.name: Duplicate value: "cpu"/,
  ],
  [
    "default constraints with a duplicate or missing key",
    "profiles: [{ pluginConfig: [{ name: PodTopologySpread, args: { defaultingType: List, defaultConstraints: [{ maxSkew: 1, topologyKey: a b, whenUnsatisfiable: DoNotSchedule }, { maxSkew: 2, topologyKey: a b, whenUnsatisfiable: DoNotSchedule }] } }] }]",
    /"a b" is not a qualified name.*Duplicate value: "{a b, DoNotSchedule}"/,
  ],
  [
    "two profiles of one name",
    "profiles: [{ schedulerName: a }, { schedulerName: a }]",
    /profiles\[1\]\.schedulerName: Duplicate value: "a"/,
  ],
  [
    "an unnamed profile among several",
    "profiles: [{ schedulerName: a }, {}]",
    /profiles\[1\]\.schedulerName: Required value/,
  ],
  ["extenders", "extenders: [{ urlPrefix: x }]", /extenders: extenders are not supported/],
  ["another parallelism", "parallelism: 4", /parallelism: one pod is scheduled at a time/],
  [
    "arguments for a plugin without any",
    "profiles: [{ pluginConfig: [{ name: NodeName, args: {} }] }]",
    /plugin "NodeName" has no arguments/,
  ],
  [
    "default constraints without the type List",
    "profiles: [{ pluginConfig: [{ name: PodTopologySpread, args: { defaultConstraints: [{ maxSkew: 1, topologyKey: x, whenUnsatisfiable: ScheduleAnyway }] } }] }]",
    /needs defaultingType List/,
  ],
  [
    "a shape that is not sorted",
    "profiles: [{ pluginConfig: [{ name: NodeResourcesFit, args: { scoringStrategy: { type: RequestedToCapacityRatio, requestedToCapacityRatio: { shape: [{ utilization: 50, score: 1 }, { utilization: 0, score: 2 }] } } } }] }]",
    /sorted in increasing order/,
  ],
  [
    "a maximum backoff below the initial one",
    "podInitialBackoffSeconds: 5\npodMaxBackoffSeconds: 2",
    /must be at least/,
  ],
];
for (const [name, text, message] of wrong)
  test(`${name} is rejected`, () => assert.throws(() => read(text), message));

test("another kind or version is rejected, and every problem is reported", () => {
  assert.throws(
    () => schedulerConfiguration("apiVersion: v1\nkind: Pod\nfoo: 1\n", dialects.orch),
    /unknown field "foo".*apiVersion: must be one of.*kind: must be OrchSchedulerConfiguration/s,
  );
});

const resources = [{ name: "cpu", weight: 1 }];
const ratio = (shape: [number, number][]): ScoringStrategy => ({
  type: "RequestedToCapacityRatio",
  resources,
  shape: shape.map(([utilization, score]) => ({ utilization, score })),
});
const scores: [name: string, strategy: ScoringStrategy, used: number, expected: number][] = [
  ["LeastAllocated prefers emptier nodes", { type: "LeastAllocated", resources }, 25, 75],
  ["MostAllocated prefers fuller nodes", { type: "MostAllocated", resources }, 25, 25],
  ["utilization above capacity counts as full", { type: "MostAllocated", resources }, 125, 100],
  [
    "a shape between its points",
    ratio([
      [0, 0],
      [100, 10],
    ]),
    25,
    25,
  ],
  [
    "a decreasing shape",
    ratio([
      [0, 10],
      [50, 0],
    ]),
    25,
    50,
  ],
  [
    "a shape beyond its last point",
    ratio([
      [0, 2],
      [50, 4],
    ]),
    80,
    40,
  ],
];
for (const [name, strategy, used, expected] of scores)
  test(`node scoring: ${name}`, () =>
    assert.equal(
      allocationScore({ allocatable: { cpu: 100 }, nonZeroRequested: { cpu: used } }, {}, strategy),
      expected,
    ));

test("the percentage of nodes to score can be configured", () => {
  assert.deepEqual(
    [nodesToFind(50, 10), nodesToFind(1000, 30), nodesToFind(1000, 100), nodesToFind(1000)],
    [50, 300, 1000, 420],
  );
});

test("an extended resource counts in the score of nodes only for pods that request it", () => {
  const node = { allocatable: { cpu: 100, gpu: 4 }, nonZeroRequested: { cpu: 40, gpu: 3 } };
  const resources = ["cpu", "gpu"].map((name) => ({ name, weight: 1 }));
  const strategy: ScoringStrategy = { type: "MostAllocated", resources };
  assert.equal(allocationScore(node, { cpu: 10 }, strategy), 50);
  assert.equal(allocationScore(node, { cpu: 10, gpu: 1 }, strategy), 75);
});
