import assert from "node:assert/strict";
import { test } from "node:test";
import type { MetricSpec } from "#api";
import type { SeenPod } from "../pods.ts";
import { type MetricInput, externalMetric, objectMetric, resourceMetric } from "./metric-sources.ts";

const pod = (requests: object): SeenPod =>
  ({
    metadata: { name: "a" },
    spec: { containers: [{ name: "c", resources: { requests } }] },
    status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] },
  }) as unknown as SeenPod;

/** Returns an input whose metrics API is not served, or serves no metrics. */
const inputOf = (pods: readonly SeenPod[], isServed: boolean): MetricInput =>
  ({
    client: {
      resource: () =>
        isServed ? Promise.resolve(new Map()) : Promise.reject(new Error("nobody serves metrics")),
    },
    namespace: "default",
    selector: "app=web",
    pods,
    current: 1,
    now: 0,
    settings: { tolerance: 0.1 },
  }) as unknown as MetricInput;

const utilization = { type: "Utilization", averageUtilization: 50 };
const average = { type: "AverageValue", averageValue: "50Mi" };
const cases: [name: string, resource: object, pods: SeenPod[], isServed: boolean, text: string][] = [
  [
    "missing metrics for a utilization target",
    { name: "cpu", target: utilization },
    [],
    false,
    "failed to get cpu utilization: unable to get metrics for resource cpu: nobody serves metrics",
  ],
  [
    "missing metrics for an average target",
    { name: "memory", target: average },
    [],
    false,
    "failed to get memory usage: unable to get metrics for resource memory: nobody serves metrics",
  ],
  [
    "missing requests",
    { name: "cpu", target: utilization },
    [pod({})],
    true,
    "failed to get cpu utilization: missing request for cpu in container c of Pod a",
  ],
  [
    "missing pods",
    { name: "memory", target: average },
    [],
    true,
    "failed to get memory usage: no pods returned by selector while calculating replica count",
  ],
];
for (const [name, resource, pods, isServed, message] of cases)
  test(`an autoscaler reports ${name}`, () =>
    assert.rejects(resourceMetric({ type: "Resource", resource } as MetricSpec, inputOf(pods, isServed)), {
      message,
    }));

const state = (phase: string, isReady: boolean): SeenPod =>
  ({
    metadata: { name: "a" },
    status: { phase, conditions: [{ type: "Ready", status: isReady ? "True" : "False" }] },
  }) as unknown as SeenPod;
const ready = state("Running", true);
const starting = state("Running", false);
const value = { type: "Value", value: "10" };
const perPod = { type: "AverageValue", averageValue: "10" };
const proposals: [
  name: string,
  total: number,
  target: object,
  input: { current: number; observed: number; pods: SeenPod[] },
  replicas: number,
][] = [
  [
    "counts ready pods only",
    20,
    value,
    { current: 4, observed: 4, pods: [ready, ready, starting, state("Pending", false)] },
    4,
  ],
  ["leaves zero replicas by the ratio", 35, value, { current: 0, observed: 0, pods: [] }, 4],
  ["keeps zero replicas without any value", 0, value, { current: 0, observed: 0, pods: [] }, 0],
  ["keeps the replicas within the tolerance", 10.5, value, { current: 3, observed: 3, pods: [ready] }, 3],
  ["divides by the observed replicas", 32, perPod, { current: 5, observed: 3, pods: [ready] }, 3],
];
for (const [name, total, target, input, replicas] of proposals) {
  const metric = { name: "hits" };
  const describedObject = { kind: "Service", name: "web" };
  const given = {
    ...inputOf([], true),
    ...input,
    client: {
      object: () => Promise.resolve(total * 1000),
      external: () => Promise.resolve([total * 500, total * 500]),
    },
  } as unknown as MetricInput;
  test(`a shared value ${name}`, async () => {
    const external = { type: "External", external: { metric, target } } as MetricSpec;
    const object = { type: "Object", object: { describedObject, metric, target } } as MetricSpec;
    assert.equal((await externalMetric(external, given)).replicas, replicas);
    assert.equal((await objectMetric(object, given)).replicas, replicas);
  });
}

test("a shared value without any pod of the target is an error", () =>
  assert.rejects(
    externalMetric(
      { type: "External", external: { metric: { name: "hits" }, target: value } },
      {
        ...inputOf([], true),
        client: { external: () => Promise.resolve([99_000]) } as unknown as MetricInput["client"],
      },
    ),
    {
      message: "unable to calculate ready pods: no pods returned by selector while calculating replica count",
    },
  ));
