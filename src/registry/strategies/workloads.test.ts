import assert from "node:assert/strict";
import { test } from "node:test";
import { controllerRevision } from "./controller-revision.ts";
import { daemonSet } from "./daemon-set.ts";
import { deployment, replicaSet } from "./deployment.ts";
import { podDisruptionBudget } from "./disruption-budget.ts";
import { replicationController } from "./replication-controller.ts";
import { statefulSet } from "./stateful-set.ts";
import { contextOf, defaulted, tryCreate, tryPart, tryUpdate } from "./try-out.fixture.ts";

const pod = { containers: [{ name: "c", image: "i:1" }] };
const template = { metadata: { labels: { a: "b" } }, spec: pod };
const selector = { matchLabels: { a: "b" } };
const spec = { selector, template };
const metadata = { name: "x", namespace: "n" };
type Sent = Record<string, unknown>;

const refused: [name: string, strategy: typeof deployment, spec: Sent, causes: string[]][] = [
  [
    "a deployment needs a selector",
    deployment,
    { template },
    ["Invalid spec.template.metadata.labels", "Required spec.selector"],
  ],
  [
    "a deployment needs a selector that says something",
    deployment,
    { template, selector: {} },
    ["Invalid spec.selector"],
  ],
  [
    "selectors that cannot be used are refused",
    deployment,
    {
      template,
      selector: {
        matchExpressions: [
          { key: "a", operator: "Near", values: ["b"] },
          { key: "a", operator: "In" },
          { key: "a", operator: "Exists", values: ["x"] },
        ],
      },
    },
    [
      "Forbidden spec.selector.matchExpressions[2].values",
      "Invalid spec.selector",
      "Invalid spec.selector.matchExpressions[0].operator",
      "Required spec.selector.matchExpressions[1].values",
    ],
  ],
  [
    "counts of a deployment are not negative",
    deployment,
    { ...spec, replicas: -1, minReadySeconds: -1, revisionHistoryLimit: -1, progressDeadlineSeconds: 0 },
    ["Invalid spec.minReadySeconds", "Invalid spec.replicas", "Invalid spec.revisionHistoryLimit"],
  ],
  [
    "a deployment's deadline is longer than the time to be ready",
    deployment,
    { ...spec, minReadySeconds: 600 },
    ["Invalid spec.progressDeadlineSeconds"],
  ],
  [
    "a deployment that recreates has no settings of rolling updates",
    deployment,
    { ...spec, strategy: { type: "Recreate", rollingUpdate: { maxSurge: 1 } } },
    ["Forbidden spec.strategy.rollingUpdate"],
  ],
  [
    "a rolling update that may neither add nor take away is refused",
    deployment,
    { ...spec, strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: "0%" } } },
    ["Invalid spec.strategy.rollingUpdate.maxUnavailable"],
  ],
  [
    "a rolling update cannot take away more than all pods",
    deployment,
    { ...spec, strategy: { rollingUpdate: { maxUnavailable: "101%" } } },
    ["Invalid spec.strategy.rollingUpdate.maxUnavailable"],
  ],
  [
    "an unknown way to roll out is refused",
    deployment,
    { ...spec, strategy: { type: "Odd" } },
    ["NotSupported spec.strategy"],
  ],
  [
    "a template of pods that end is refused in a deployment",
    deployment,
    {
      ...spec,
      template: { ...template, spec: { ...pod, restartPolicy: "Never", activeDeadlineSeconds: 1 } },
    },
    ["Forbidden spec.template.spec.activeDeadlineSeconds", "NotSupported spec.template.spec.restartPolicy"],
  ],
  [
    "a pod needs containers",
    deployment,
    { selector, template: { ...template, spec: { containers: [] } } },
    ["Required spec.template.spec.containers"],
  ],
  [
    "containers have names of their own and images",
    replicaSet,
    { selector, template: { ...template, spec: { containers: [{ name: "c", image: "i" }, { name: "c" }] } } },
    ["Duplicate spec.template.spec.containers[1].name", "Required spec.template.spec.containers[1].image"],
  ],
  [
    "policies of stateful sets are known",
    statefulSet,
    { ...spec, podManagementPolicy: "Odd", updateStrategy: { type: "Odd" } },
    ["Invalid spec.podManagementPolicy", "Invalid spec.updateStrategy"],
  ],
  ["a stateful set needs a template", statefulSet, { selector }, ["Invalid spec.template.metadata.labels"]],
  [
    "a stateful set that is updated on deletion has no settings of rolling updates",
    statefulSet,
    { ...spec, updateStrategy: { type: "OnDelete", rollingUpdate: { partition: 1 } } },
    ["Invalid spec.updateStrategy.rollingUpdate"],
  ],
  [
    "daemons must be able to be replaced",
    daemonSet,
    {
      selector,
      template: { ...template, spec: { ...pod, restartPolicy: "Never" } },
      updateStrategy: { rollingUpdate: { maxUnavailable: 0 } },
    },
    [
      "NotSupported spec.template.spec.restartPolicy",
      "Required spec.updateStrategy.rollingUpdate.maxUnavailable",
    ],
  ],
  [
    "daemons surge or give way, not both",
    daemonSet,
    { ...spec, updateStrategy: { rollingUpdate: { maxUnavailable: 1, maxSurge: 1 } } },
    ["Invalid spec.updateStrategy.rollingUpdate.maxSurge"],
  ],
  [
    "a controller needs a template and a selector",
    replicationController,
    {},
    ["Required spec.selector", "Required spec.template"],
  ],
  [
    "a controller's selector matches its template",
    replicationController,
    { selector: { x: "y" }, template },
    ["Invalid spec.template.metadata.labels"],
  ],
  [
    "a budget says one of two numbers",
    podDisruptionBudget,
    { minAvailable: 1, maxUnavailable: 1 },
    ["Invalid spec"],
  ],
  ["a budget need not say how many", podDisruptionBudget, { selector: {} }, []],
  [
    "a budget has at most all pods",
    podDisruptionBudget,
    { maxUnavailable: "150%" },
    ["Invalid spec.maxUnavailable"],
  ],
  ["a budget is not negative", podDisruptionBudget, { minAvailable: -1 }, ["Invalid spec.minAvailable"]],
  [
    "a budget's policy is known",
    podDisruptionBudget,
    { unhealthyPodEvictionPolicy: "Odd" },
    ["NotSupported spec.unhealthyPodEvictionPolicy"],
  ],
  [
    "a number written as text is no share of daemons, but it counts",
    daemonSet,
    {
      ...spec,
      updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 1, maxSurge: "1" } },
    },
    [
      "Invalid spec.updateStrategy.rollingUpdate.maxSurge",
      "Invalid spec.updateStrategy.rollingUpdate.maxSurge",
    ],
  ],
];
for (const [name, strategy, sent, causes] of refused)
  test(name, () => assert.deepEqual(tryCreate(strategy, { metadata, spec: sent }).causes, causes));

const changed: [name: string, strategy: typeof deployment, before: Sent, after: Sent, causes: string[]][] = [
  [
    "a deployment's selector cannot change",
    deployment,
    spec,
    { ...spec, selector: { matchLabels: { z: "z" } } },
    ["Invalid spec.selector", "Invalid spec.template.metadata.labels"],
  ],
  [
    "a daemon set's selector cannot change, and its faults are said twice",
    daemonSet,
    spec,
    { ...spec, selector: { matchLabels: { z: "y" } } },
    [
      "Invalid spec.selector",
      "Invalid spec.template.metadata.labels",
      "Invalid spec.template.metadata.labels",
    ],
  ],
  [
    "the service of a stateful set cannot change",
    statefulSet,
    { ...spec, serviceName: "s" },
    { ...spec, serviceName: "z" },
    ["Forbidden spec"],
  ],
  [
    "the order in which a stateful set starts pods cannot change",
    statefulSet,
    spec,
    { ...spec, podManagementPolicy: "Parallel" },
    ["Forbidden spec"],
  ],
  [
    "size and template of a stateful set may change",
    statefulSet,
    spec,
    { ...spec, replicas: 3, template: { ...template, spec: { containers: [{ name: "c", image: "i:2" }] } } },
    [],
  ],
];
for (const [name, strategy, before, after, causes] of changed) {
  test(name, () =>
    assert.deepEqual(
      tryUpdate(strategy, { metadata, spec: before }, { metadata, spec: after }).causes,
      causes,
    ),
  );
}

const statuses: [name: string, strategy: typeof deployment, status: Sent, causes: string[]][] = [
  [
    "no more pods are ready than there are",
    statefulSet,
    { replicas: 1, readyReplicas: 2, currentReplicas: 1 },
    ["Invalid status.readyReplicas"],
  ],
  [
    "counters of daemons are not negative",
    daemonSet,
    { currentNumberScheduled: 1, numberMisscheduled: 0, desiredNumberScheduled: 1, numberReady: -1 },
    ["Invalid status.numberReady"],
  ],
  [
    "no more pods are available than ready",
    deployment,
    { replicas: 3, readyReplicas: 1, availableReplicas: 2 },
    ["Invalid status.availableReplicas"],
  ],
  [
    "the count of collisions is never negative",
    deployment,
    { collisionCount: -1 },
    ["Invalid status.collisionCount"],
  ],
];
for (const [name, strategy, status, causes] of statuses)
  test(name, () =>
    assert.deepEqual(tryPart(strategy, "status", { metadata, spec }, { status }).causes, causes),
  );

test("the disruptions that a budget allows are not negative", () => {
  const { causes } = tryPart(
    podDisruptionBudget,
    "status",
    { metadata, spec: {} },
    { status: { disruptionsAllowed: -1 } },
  );
  assert.deepEqual(causes, ["Invalid status.disruptionsAllowed"]);
});

const generationOf = ({ object }: { object: Sent }): unknown =>
  (object["metadata"] as { annotations: Sent }).annotations["deprecated.daemonset.template.generation"];

test("daemon sets count changes of their template", () => {
  assert.equal(generationOf(tryCreate(daemonSet, { metadata, spec })), "1");
  assert.equal(
    generationOf(
      tryUpdate(daemonSet, { metadata, spec }, { metadata, spec: { ...spec, minReadySeconds: 1 } }),
    ),
    "1",
  );
  assert.equal(
    generationOf(
      tryUpdate(
        daemonSet,
        { metadata, spec },
        {
          metadata,
          spec: { ...spec, template: { ...template, spec: { containers: [{ name: "c", image: "i:2" }] } } },
        },
      ),
    ),
    "2",
  );
});

test("the data of a revision never change, its number may", () => {
  const before = { metadata, revision: 1, data: { x: 1 } };
  assert.deepEqual(tryUpdate(controllerRevision, before, { ...before, data: { x: 2 } }).causes, [
    "Invalid data",
  ]);
  assert.deepEqual(tryUpdate(controllerRevision, before, { ...before, revision: 2 }).causes, []);
  assert.deepEqual(tryCreate(controllerRevision, { metadata, revision: -1 }).causes, [
    "Invalid revision",
    "Required data",
  ]);
});

test("a workload whose name is no host name is warned of", () => {
  assert.equal(tryCreate(deployment, { metadata: { name: "a.b" }, spec }).warnings.length, 1);
  assert.deepEqual(tryCreate(deployment, { metadata, spec }).warnings, []);
});

const unwise = { ...template, spec: { ...pod, nodeSelector: { "beta.orch.io/os": "x" } } };
const ctx = contextOf(deployment);
const heard: [
  name: string,
  strategy: typeof deployment,
  generations: [number, number],
  templates: [object, object],
  expected: number,
][] = [
  ["a deployment that changes is warned about again", deployment, [1, 2], [unwise, unwise], 1],
  ["a deployment that only gets a label is not warned about again", deployment, [1, 1], [unwise, unwise], 0],
  [
    "a daemon set that changes but for its template is not warned about again",
    daemonSet,
    [1, 2],
    [unwise, unwise],
    0,
  ],
  ["a daemon set is warned about when its template changes", daemonSet, [1, 2], [template, unwise], 1],
  [
    "a replication controller is not warned about what a change brings",
    replicationController,
    [1, 2],
    [template, unwise],
    0,
  ],
  [
    "a replication controller is warned about what was before, even when that is mended",
    replicationController,
    [1, 2],
    [unwise, template],
    1,
  ],
];
for (const [name, strategy, [before, after], [old, now], expected] of heard) {
  test(name, () => {
    const made = (generation: number, of: object) =>
      defaulted(strategy, {
        metadata: { ...metadata, generation },
        spec: { selector: strategy === replicationController ? { a: "b" } : selector, template: of },
      });
    assert.equal(strategy.warnings!(made(after, now), made(before, old), ctx).length, expected);
  });
}
