import assert from "node:assert/strict";
import { test } from "node:test";
import type { HorizontalPodAutoscaler } from "#api";
import { dialects } from "#dialect";
import { fromV1, toV1 } from "./autoscaler-v1.ts";
import { horizontalPodAutoscaler } from "./autoscaler.ts";
import { cellsOf, defaulted, tryCreate, tryPart } from "./strategy.fixture.ts";

const metadata = { name: "a" };
const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "d" };
const cpu = {
  type: "Resource",
  resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 70 } },
};
const memory = {
  type: "Resource",
  resource: { name: "memory", target: { type: "AverageValue", averageValue: "1Gi" } },
};
const pods = {
  type: "Pods",
  pods: { metric: { name: "q" }, target: { type: "AverageValue", averageValue: "10" } },
};

const refused: [name: string, spec: object, causes: string[]][] = [
  [
    "minReplicas must not exceed maxReplicas",
    { minReplicas: 9, maxReplicas: 5, scaleTargetRef },
    ["Invalid spec.maxReplicas"],
  ],
  [
    "the scale target and a maximum are required",
    { maxReplicas: 0, scaleTargetRef: {} },
    [
      "Invalid spec.maxReplicas",
      "Invalid spec.maxReplicas",
      "Required spec.scaleTargetRef.kind",
      "Required spec.scaleTargetRef.name",
    ],
  ],
  [
    "a metric needs a known type and its source",
    { maxReplicas: 1, scaleTargetRef, metrics: [{ type: "Odd" }, { type: "Resource" }] },
    [
      "NotSupported spec.metrics[0].type",
      "NotSupported spec.metrics[0].type",
      "Required spec.metrics[1].resource",
    ],
  ],
  [
    "a metric has a single source",
    { maxReplicas: 1, scaleTargetRef, metrics: [{ ...cpu, pods: pods.pods }] },
    ["Forbidden spec.metrics[0].pods"],
  ],
  [
    "a metric needs a target",
    {
      maxReplicas: 1,
      scaleTargetRef,
      metrics: [{ type: "Pods", pods: { metric: { name: "" }, target: { type: "X" } } }],
    },
    [
      "Invalid spec.metrics[0].pods.target.type",
      "Required spec.metrics[0].pods.metric.name",
      "Required spec.metrics[0].pods.target.averageValue",
    ],
  ],
  [
    "targets must be positive",
    {
      maxReplicas: 1,
      scaleTargetRef,
      metrics: [
        {
          type: "Resource",
          resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 0 } },
        },
      ],
    },
    ["Invalid spec.metrics[0].resource.target.averageUtilization"],
  ],
  [
    "values of scaling rules are bounded",
    {
      maxReplicas: 1,
      scaleTargetRef,
      behavior: {
        scaleUp: {
          stabilizationWindowSeconds: 3601,
          selectPolicy: "X",
          policies: [{ type: "Y", value: 0, periodSeconds: 1801 }],
        },
      },
    },
    [
      "Invalid spec.behavior.scaleUp.policies[0].periodSeconds",
      "Invalid spec.behavior.scaleUp.policies[0].value",
      "Invalid spec.behavior.scaleUp.stabilizationWindowSeconds",
      "NotSupported spec.behavior.scaleUp.policies[0].type",
      "NotSupported spec.behavior.scaleUp.selectPolicy",
    ],
  ],
  [
    "an empty list of policies differs from an absent one",
    { scaleTargetRef, maxReplicas: 1, behavior: { scaleUp: { policies: [] }, scaleDown: {} } },
    ["Required spec.behavior.scaleUp.policies"],
  ],
  [
    "an unknown container resource is reported twice",
    {
      scaleTargetRef,
      maxReplicas: 1,
      metrics: [
        {
          type: "ContainerResource",
          containerResource: {
            name: "odd",
            container: "c",
            target: { type: "AverageValue", averageValue: "1" },
          },
        },
      ],
    },
    ["Invalid spec.metrics[0].containerResource.name", "Invalid spec.metrics[0].containerResource.name"],
  ],
];
for (const [name, spec, causes] of refused)
  test(name, () => assert.deepEqual(tryCreate(horizontalPodAutoscaler, { metadata, spec }).causes, causes));

test("the default metric is CPU, and behavior gets defaults", () => {
  const spec = tryCreate(horizontalPodAutoscaler, {
    metadata,
    spec: { maxReplicas: 5, scaleTargetRef, behavior: { scaleDown: { stabilizationWindowSeconds: 60 } } },
  }).object["spec"] as HorizontalPodAutoscaler["spec"];
  assert.deepEqual(spec.metrics, [
    { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 80 } } },
  ]);
  assert.deepEqual(spec.behavior?.scaleDown, {
    stabilizationWindowSeconds: 60,
    selectPolicy: "Max",
    policies: [{ type: "Percent", value: 100, periodSeconds: 15 }],
  });
  assert.equal(spec.behavior.scaleUp?.policies?.length, 2);
});

const hub = {
  ...defaulted(horizontalPodAutoscaler, {
    metadata,
    spec: {
      minReplicas: 2,
      maxReplicas: 5,
      scaleTargetRef,
      metrics: [memory, pods, cpu],
      behavior: { scaleDown: { stabilizationWindowSeconds: 60 } },
    },
  }),
  apiVersion: "autoscaling/v2",
  kind: "HorizontalPodAutoscaler",
} as HorizontalPodAutoscaler;

test("v1 encodes unsupported fields in annotations", () => {
  const shown = toV1(structuredClone(hub), dialects.orch) as unknown as {
    metadata: { annotations: Record<string, string> };
    spec: object;
  };
  assert.deepEqual(shown.spec, {
    minReplicas: 2,
    maxReplicas: 5,
    scaleTargetRef,
    targetCPUUtilizationPercentage: 70,
  });
  assert.equal(
    shown.metadata.annotations["autoscaling.alpha.orch.io/metrics"],
    '[{"type":"Resource","resource":{"name":"memory","targetAverageValue":"1Gi"}},{"type":"Pods","pods":{"metricName":"q","targetAverageValue":"10"}}]',
  );
  assert.equal(
    shown.metadata.annotations["autoscaling.alpha.orch.io/behavior"],
    '{"ScaleUp":{"StabilizationWindowSeconds":0,"SelectPolicy":"Max","Policies":[{"Type":"Pods","Value":4,"PeriodSeconds":15},{"Type":"Percent","Value":100,"PeriodSeconds":15}]},"ScaleDown":{"StabilizationWindowSeconds":60,"SelectPolicy":"Max","Policies":[{"Type":"Percent","Value":100,"PeriodSeconds":15}]}}',
  );
});

test("a conversion to v1 and back is lossless", () => {
  const status = {
    desiredReplicas: 2,
    currentReplicas: 1,
    currentMetrics: [
      { type: "Resource", resource: { name: "cpu", current: { averageUtilization: 30, averageValue: "1" } } },
    ],
    conditions: [{ type: "Able", status: "True", lastTransitionTime: null }],
  };
  const full = { ...structuredClone(hub), status } as HorizontalPodAutoscaler;
  assert.deepEqual(fromV1(toV1(structuredClone(full), dialects.orch), dialects.orch), full);
});

const served = (annotations: Record<string, string>) => ({
  apiVersion: "",
  kind: "",
  metadata: { creationTimestamp: null, annotations },
  spec: { maxReplicas: 5, scaleTargetRef },
  status: { currentReplicas: 0, desiredReplicas: 0 },
});

const malformed = ["nonsense", "0", "{}", '"a"', '[{"type":5}]', "[5]"];
for (const text of malformed)
  test(`an annotation with ${text} is ignored`, () => {
    const annotations = Object.fromEntries(
      ["metrics", "behavior", "current-metrics", "conditions"].map((key) => [
        `autoscaling.alpha.orch.io/${key}`,
        text,
      ]),
    );
    const made = fromV1(served({ ...annotations, mine: "stays" }), dialects.orch);
    assert.deepEqual(made.metadata.annotations, { mine: "stays" });
    assert.deepEqual(made.spec.metrics, [
      {
        type: "Resource",
        resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 80 } },
      },
    ]);
    assert.equal(made.spec.behavior, undefined);
    // v2 omits current replicas if there are none.
    assert.deepEqual(made.status, { desiredReplicas: 0, currentMetrics: null });
  });

test("names in annotations are matched regardless of case, and absent amounts are zero", () => {
  const made = fromV1(
    served({
      "autoscaling.alpha.orch.io/behavior": '{"scaleUp":{"selectPolicy":"Min","Policies":null}}',
      "autoscaling.alpha.orch.io/metrics": '[{"Type":"Pods","pods":{"metricname":"q"}}]',
    }),
    dialects.orch,
  );
  assert.deepEqual(made.spec.behavior, { scaleUp: { selectPolicy: "Min" } });
  assert.deepEqual(made.spec.metrics, [
    { type: "Pods", pods: { metric: { name: "q" }, target: { type: "AverageValue", averageValue: "0" } } },
  ]);
});

test("v1 shows the first CPU target and the last CPU measurement", () => {
  const second = structuredClone(cpu);
  second.resource.target.averageUtilization = 90;
  const measured = (averageUtilization: number) => ({
    type: "Resource",
    resource: { name: "cpu", current: { averageUtilization } },
  });
  const status = { desiredReplicas: 1, currentReplicas: 1, currentMetrics: [measured(10), measured(20)] };
  const shown = toV1(
    { ...structuredClone(hub), spec: { ...hub.spec, metrics: [cpu, second] }, status },
    dialects.orch,
  ) as unknown as {
    spec: { targetCPUUtilizationPercentage: number };
    status: { currentCPUUtilizationPercentage: number };
  };
  assert.equal(shown.spec.targetCPUUtilizationPercentage, 70);
  assert.equal(shown.status.currentCPUUtilizationPercentage, 20);
});

test("replica counts must not be negative", () => {
  assert.deepEqual(
    tryPart(
      horizontalPodAutoscaler,
      "status",
      { metadata, spec: { maxReplicas: 1, scaleTargetRef } },
      { status: { desiredReplicas: -1 } },
    ).causes,
    ["Invalid status.desiredReplicas"],
  );
});

test("a current metric without a value is shown as nil", () => {
  const withoutValue = (type: string, key: string) => ({ type, [key]: { name: "memory", current: {} } });
  const status = {
    desiredReplicas: 1,
    currentReplicas: 1,
    currentMetrics: [withoutValue("Resource", "resource"), withoutValue("Pods", "pods")],
  };
  const spec = { maxReplicas: 5, scaleTargetRef, metrics: [memory, pods] };
  assert.equal(cellsOf(horizontalPodAutoscaler, { metadata, spec, status })[2], "<nil>/1Gi, <nil>/10");
});

test("the table row shows current and target values", () => {
  const status = {
    desiredReplicas: 1,
    currentReplicas: 1,
    currentMetrics: [{ type: "Resource", resource: { name: "cpu", current: { averageUtilization: 40 } } }],
  };
  assert.deepEqual(
    cellsOf(horizontalPodAutoscaler, {
      metadata,
      spec: { maxReplicas: 5, scaleTargetRef, metrics: [cpu, memory, pods] },
      status,
    }),
    ["a", "Deployment/d", "40%/70%, <unknown>/1Gi + 1 more...", "1", 5, 1, "<unknown>"],
  );
});
