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

test("an empty file is the default scheduler", () => {
  const { profiles, backOff } = read("");
  assert.deepEqual(backOff, { firstMilliseconds: 1000, longestMilliseconds: 10_000 });
  assert.equal(profiles[0]!.schedulerName, "default-scheduler");
  assert.equal(profiles[0]!.preempts, true);
  assert.deepEqual(named(profiles[0]!.plugins), named(defaultPlugins));
});

test("the other dialect has the names of the original, in both versions", () => {
  for (const version of ["v1", "v1beta3"])
    schedulerConfiguration(
      `apiVersion: kubescheduler.config.k8s.io/${version}\nkind: KubeSchedulerConfiguration\n`,
      dialects.kubernetes,
    );
});

test("profiles choose plug-ins, weights and whether to preempt", () => {
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

test("lists that change nothing are taken, and so is disabling what is not there", () => {
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

test("leader election, back-offs and the client config are taken", () => {
  const found = read(`
podInitialBackoffSeconds: 2
podMaxBackoffSeconds: 20
clientConnection: { orchconfig: /etc/scheduler.conf }
leaderElection: { leaderElect: false, leaseDuration: 20s, resourceName: other }
`);
  assert.deepEqual(found.backOff, { firstMilliseconds: 2000, longestMilliseconds: 20_000 });
  assert.equal(found.clientConfig, "/etc/scheduler.conf");
  assert.deepEqual(found.leaderElection, {
    leaderElect: false,
    leaseMilliseconds: 20_000,
    resourceName: "other",
  });
});

const wrong: [name: string, text: string, message: RegExp][] = [
  ["a field that nobody knows", "profiles: [{ plugin: {} }]", /unknown field "profiles\[0\]\.plugin"/],
  ["a key that is there twice", "podMaxBackoffSeconds: 3\npodMaxBackoffSeconds: 3", /already set/],
  ["a value of the wrong type", "podMaxBackoffSeconds: many", /podMaxBackoffSeconds: must be a whole number/],
  [
    "a plug-in that does not exist",
    "profiles: [{ plugins: { score: { enabled: [{ name: X }] } } }]",
    /plugins\.score\.enabled\[0\]\.name: there is no plug-in "X"/,
  ],
  [
    "a part that cannot be left out",
    "profiles: [{ plugins: { multiPoint: { disabled: [{ name: DefaultBinder }] } } }]",
    /"DefaultBinder" cannot be disabled/,
  ],
  [
    "a point without a list",
    "profiles: [{ plugins: { reserve: { disabled: [{ name: VolumeBinding }] } } }]",
    /plugins\.reserve: this point has no list/,
  ],
  [
    "a queue without an order",
    'profiles: [{ plugins: { multiPoint: { disabled: [{ name: "*" }] } } }]',
    /"PrioritySort" cannot be disabled.*"DefaultBinder" cannot be disabled/,
  ],
  [
    "a plug-in at a point where it does nothing",
    "profiles: [{ plugins: { filter: { enabled: [{ name: ImageLocality }] } } }]",
    /filter\.enabled\[0\]\.name: plug-in "ImageLocality" has no part in filter/,
  ],
  [
    "a plug-in that is named twice",
    "profiles: [{ plugins: { score: { enabled: [{ name: ImageLocality }, { name: ImageLocality }] } } }]",
    /score\.enabled\[1\]\.name: Duplicate value: "ImageLocality"/,
  ],
  [
    "a lease that ends before it is renewed",
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
    "resources and groups that are no names",
    "profiles: [{ pluginConfig: [{ name: NodeResourcesFit, args: { ignoredResources: [a b], ignoredResourceGroups: [x/y] } }] }]",
    /ignoredResources\[0\]: "a b" is no qualified name.*ignoredResourceGroups\[0\]: "x\/y"/,
  ],
  [
    "balance by weights, or by one resource twice",
    "profiles: [{ pluginConfig: [{ name: NodeResourcesBalancedAllocation, args: { resources: [{ name: cpu, weight: 2 }, { name: cpu }] } }] }]",
    /resources\[0\]\.weight: must be 1.*resources\[1\]\.name: Duplicate value: "cpu"/,
  ],
  [
    "default constraints of one key twice, or of none",
    "profiles: [{ pluginConfig: [{ name: PodTopologySpread, args: { defaultingType: List, defaultConstraints: [{ maxSkew: 1, topologyKey: a b, whenUnsatisfiable: DoNotSchedule }, { maxSkew: 2, topologyKey: a b, whenUnsatisfiable: DoNotSchedule }] } }] }]",
    /"a b" is no qualified name.*Duplicate value: "{a b, DoNotSchedule}"/,
  ],
  [
    "two profiles of one name",
    "profiles: [{ schedulerName: a }, { schedulerName: a }]",
    /profiles\[1\]\.schedulerName: Duplicate value: "a"/,
  ],
  [
    "a profile without a name among several",
    "profiles: [{ schedulerName: a }, {}]",
    /profiles\[1\]\.schedulerName: Required value/,
  ],
  ["extenders", "extenders: [{ urlPrefix: x }]", /extenders: extenders are not called/],
  ["another parallelism", "parallelism: 4", /parallelism: one pod is placed at a time/],
  [
    "arguments of plug-ins without any",
    "profiles: [{ pluginConfig: [{ name: NodeName, args: {} }] }]",
    /no arguments for plug-in "NodeName"/,
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
  ["shorter longest back-off", "podInitialBackoffSeconds: 5\npodMaxBackoffSeconds: 2", /must be at least/],
];
for (const [name, text, message] of wrong)
  test(`${name} is refused`, () => assert.throws(() => read(text), message));

test("another kind or version is refused, and every problem is told", () => {
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
  ["emptier is better", { type: "LeastAllocated", resources }, 25, 75],
  ["fuller is better", { type: "MostAllocated", resources }, 25, 25],
  ["more than there is counts as all", { type: "MostAllocated", resources }, 125, 100],
  [
    "a curve between its points",
    ratio([
      [0, 0],
      [100, 10],
    ]),
    25,
    25,
  ],
  [
    "a curve that falls",
    ratio([
      [0, 10],
      [50, 0],
    ]),
    25,
    50,
  ],
  [
    "a curve behind its last point",
    ratio([
      [0, 2],
      [50, 4],
    ]),
    80,
    40,
  ],
];
for (const [name, strategy, used, expected] of scores)
  test(`nodes compare by use: ${name}`, () =>
    assert.equal(
      allocationScore({ allocatable: { cpu: 100 }, weighed: { cpu: used } }, {}, strategy),
      expected,
    ));

test("how many nodes are compared can be set", () => {
  assert.deepEqual(
    [nodesToFind(50, 10), nodesToFind(1000, 30), nodesToFind(1000, 100), nodesToFind(1000)],
    [50, 300, 1000, 420],
  );
});
