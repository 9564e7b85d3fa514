import assert from "node:assert/strict";
import { test } from "node:test";
import type { MetricSpec } from "#api";
import type { SeenPod } from "../pods.ts";
import { type MetricInput, resourceMetric } from "./metric-sources.ts";

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
