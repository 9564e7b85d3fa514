import assert from "node:assert/strict";
import { test } from "node:test";
import { controllerRevision } from "./controller-revision.ts";
import { daemonSet } from "./daemon-set.ts";
import { deployment, replicaSet } from "./deployment.ts";
import { podDisruptionBudget } from "./disruption-budget.ts";
import { replicationController } from "./replication-controller.ts";
import { statefulSet } from "./stateful-set.ts";
import { contextOf, defaulted, tryCreate, tryPart, tryUpdate } from "./strategy.fixture.ts";

const pod = { containers: [{ name: "c", image: "i:1" }] };
const template = { metadata: { labels: { a: "b" } }, spec: pod };
const selector = { matchLabels: { a: "b" } };
const spec = { selector, template };
const metadata = { name: "x", namespace: "n" };
type Sent = Record<string, unknown>;

const refused: [name: string, strategy: typeof deployment, spec: Sent, causes: string[]][] = [
  [
    "a deployment requires a selector",
    deployment,
    { template },
    ["Invalid spec.template.metadata.labels", "Required spec.selector"],
  ],
  [
    "the selector of a deployment must not be empty",
    deployment,
    { template, selector: {} },
    ["Invalid spec.selector"],
  ],
  [
    "invalid selectors are refused",
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
    "counts of a deployment must not be negative",
    deployment,
    { ...spec, replicas: -1, minReadySeconds: -1, revisionHistoryLimit: -1, progressDeadlineSeconds: 0 },
    ["Invalid spec.minReadySeconds", "Invalid spec.replicas", "Invalid spec.revisionHistoryLimit"],
  ],
  [
    "the deadline of a deployment must exceed minReadySeconds",
    deployment,
    { ...spec, minReadySeconds: 600 },
    ["Invalid spec.progressDeadlineSeconds"],
  ],
  [
    "a deployment with strategy Recreate has no rolling update settings",
    deployment,
    { ...spec, strategy: { type: "Recreate", rollingUpdate: { maxSurge: 1 } } },
    ["Forbidden spec.strategy.rollingUpdate"],
  ],
  [
    "maxSurge and maxUnavailable must not both be zero",
    deployment,
    { ...spec, strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: "0%" } } },
    ["Invalid spec.strategy.rollingUpdate.maxUnavailable"],
  ],
  [
    "maxUnavailable is at most 100%",
    deployment,
    { ...spec, strategy: { rollingUpdate: { maxUnavailable: "101%" } } },
    ["Invalid spec.strategy.rollingUpdate.maxUnavailable"],
  ],
  [
    "an unknown strategy is refused",
    deployment,
    { ...spec, strategy: { type: "Odd" } },
    ["NotSupported spec.strategy"],
  ],
  [
    "a deployment requires a long-running pod template",
    deployment,
    {
      ...spec,
      template: { ...template, spec: { ...pod, restartPolicy: "Never", activeDeadlineSeconds: 1 } },
    },
    ["Forbidden spec.template.spec.activeDeadlineSeconds", "NotSupported spec.template.spec.restartPolicy"],
  ],
  [
    "containers are required",
    deployment,
    { selector, template: { ...template, spec: { containers: [] } } },
    ["Required spec.template.spec.containers"],
  ],
  [
    "containers require unique names and images",
    replicaSet,
    { selector, template: { ...template, spec: { containers: [{ name: "c", image: "i" }, { name: "c" }] } } },
    ["Duplicate spec.template.spec.containers[1].name", "Required spec.template.spec.containers[1].image"],
  ],
  [
    "an unknown policy of a stateful set is refused",
    statefulSet,
    { ...spec, podManagementPolicy: "Odd", updateStrategy: { type: "Odd" } },
    ["Invalid spec.podManagementPolicy", "Invalid spec.updateStrategy"],
  ],
  [
    "a stateful set requires a template",
    statefulSet,
    { selector },
    ["Invalid spec.template.metadata.labels"],
  ],
  [
    "a stateful set with OnDelete has no rolling update settings",
    statefulSet,
    { ...spec, updateStrategy: { type: "OnDelete", rollingUpdate: { partition: 1 } } },
    ["Invalid spec.updateStrategy.rollingUpdate"],
  ],
  [
    "a daemon set requires a long-running pod template",
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
    "a daemon set has either maxSurge or maxUnavailable",
    daemonSet,
    { ...spec, updateStrategy: { rollingUpdate: { maxUnavailable: 1, maxSurge: 1 } } },
    ["Invalid spec.updateStrategy.rollingUpdate.maxSurge"],
  ],
  [
    "a replication controller requires a template and a selector",
    replicationController,
    {},
    ["Required spec.selector", "Required spec.template"],
  ],
  [
    "the selector of a replication controller must match its template",
    replicationController,
    { selector: { x: "y" }, template },
    ["Invalid spec.template.metadata.labels"],
  ],
  [
    "a budget has either minAvailable or maxUnavailable",
    podDisruptionBudget,
    { minAvailable: 1, maxUnavailable: 1 },
    ["Invalid spec"],
  ],
  ["a budget may have neither", podDisruptionBudget, { selector: {} }, []],
  [
    "a budget is at most 100%",
    podDisruptionBudget,
    { maxUnavailable: "150%" },
    ["Invalid spec.maxUnavailable"],
  ],
  ["a budget must not be negative", podDisruptionBudget, { minAvailable: -1 }, ["Invalid spec.minAvailable"]],
  [
    "an unknown policy of a budget is refused",
    podDisruptionBudget,
    { unhealthyPodEvictionPolicy: "Odd" },
    ["NotSupported spec.unhealthyPodEvictionPolicy"],
  ],
  [
    "maxSurge as a number in text is not a valid percentage but counts as non-zero",
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
    "the selector of a deployment is immutable",
    deployment,
    spec,
    { ...spec, selector: { matchLabels: { z: "z" } } },
    ["Invalid spec.selector", "Invalid spec.template.metadata.labels"],
  ],
  [
    "the selector of a daemon set is immutable, and errors are reported twice",
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
    "the service name of a stateful set is immutable",
    statefulSet,
    { ...spec, serviceName: "s" },
    { ...spec, serviceName: "z" },
    ["Forbidden spec"],
  ],
  [
    "the pod management policy of a stateful set is immutable",
    statefulSet,
    spec,
    { ...spec, podManagementPolicy: "Parallel" },
    ["Forbidden spec"],
  ],
  [
    "replicas and template of a stateful set are mutable",
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
    "ready replicas must not exceed replicas",
    statefulSet,
    { replicas: 1, readyReplicas: 2, currentReplicas: 1 },
    ["Invalid status.readyReplicas"],
  ],
  [
    "counters of a daemon set must not be negative",
    daemonSet,
    { currentNumberScheduled: 1, numberMisscheduled: 0, desiredNumberScheduled: 1, numberReady: -1 },
    ["Invalid status.numberReady"],
  ],
  [
    "available replicas must not exceed ready ones",
    deployment,
    { replicas: 3, readyReplicas: 1, availableReplicas: 2 },
    ["Invalid status.availableReplicas"],
  ],
  [
    "the collision count must not be negative",
    deployment,
    { collisionCount: -1 },
    ["Invalid status.collisionCount"],
  ],
];
for (const [name, strategy, status, causes] of statuses)
  test(name, () =>
    assert.deepEqual(tryPart(strategy, "status", { metadata, spec }, { status }).causes, causes),
  );

test("allowed disruptions must not be negative", () => {
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

test("the template generation of a daemon set counts template changes", () => {
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

test("the data of a controller revision is immutable, its revision is not", () => {
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

test("a workload name that is not a DNS label gets a warning", () => {
  assert.equal(tryCreate(deployment, { metadata: { name: "a.b" }, spec }).warnings.length, 1);
  assert.deepEqual(tryCreate(deployment, { metadata, spec }).warnings, []);
});

const unwise = { ...template, spec: { ...pod, nodeSelector: { "beta.orch.io/os": "x" } } };
const ctx = contextOf(deployment);
const warnings: [
  name: string,
  strategy: typeof deployment,
  generations: [number, number],
  templates: [object, object],
  expected: number,
][] = [
  ["a changed deployment gets warnings again", deployment, [1, 2], [unwise, unwise], 1],
  ["a deployment with only a new label gets no warnings", deployment, [1, 1], [unwise, unwise], 0],
  ["a daemon set with an unchanged template gets no warnings", daemonSet, [1, 2], [unwise, unwise], 0],
  ["a daemon set with a changed template gets warnings", daemonSet, [1, 2], [template, unwise], 1],
  [
    "a replication controller gets no warnings about its new template",
    replicationController,
    [1, 2],
    [template, unwise],
    0,
  ],
  [
    "a replication controller gets warnings about its old template, even if the new one is fine",
    replicationController,
    [1, 2],
    [unwise, template],
    1,
  ],
];
for (const [name, strategy, [before, after], [old, now], expected] of warnings) {
  test(name, () => {
    const made = (generation: number, of: object) =>
      defaulted(strategy, {
        metadata: { ...metadata, generation },
        spec: { selector: strategy === replicationController ? { a: "b" } : selector, template: of },
      });
    assert.equal(strategy.warnings!(made(after, now), made(before, old), ctx).length, expected);
  });
}
