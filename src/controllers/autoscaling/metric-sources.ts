// Metric sources of an autoscaler: obtains the value and the proposed number of replicas for each type.
import type { MetricSpec, MetricStatus } from "#api";
import { formatQuantity, labelSelectorText, parseQuantity, quantityMilliValue, quantityOf } from "#base";
import type { SeenPod } from "../pods.ts";
import { selectorText } from "../selector-text.ts";
import type { MetricsClient } from "./metrics-client.ts";
import {
  type CalculatorSettings,
  type Proposal,
  replicasForAverage,
  replicasForUtilization,
  replicasForValue,
} from "./replicas.ts";

export interface AutoscalerSettings extends CalculatorSettings {
  readonly syncMilliseconds: number;
  readonly downscaleWindowSeconds: number;
}

export const defaultAutoscalerSettings: AutoscalerSettings = {
  syncMilliseconds: 15_000,
  downscaleWindowSeconds: 300,
  tolerance: 0.1,
  cpuInitializationMilliseconds: 5 * 60_000,
  initialReadinessDelayMilliseconds: 30_000,
};

/** A metric that could not be obtained, with the reason for the condition. */
export class MetricError extends Error {
  readonly reason: string;
  constructor(reason: string, message: string) {
    super(message);
    this.reason = reason;
  }
}

export interface MetricInput {
  readonly client: MetricsClient;
  readonly namespace: string;
  readonly selector: string;
  readonly pods: readonly SeenPod[];
  /** Replicas in the target's spec, and in its status. */
  readonly current: number;
  readonly observed: number;
  readonly now: number;
  readonly settings: AutoscalerSettings;
}
export interface MetricResult {
  readonly replicas: number;
  readonly status: MetricStatus;
  readonly metric: string;
}

async function withReason<T>(reason: string, fetch: () => Promise<T> | T, prefix = ""): Promise<T> {
  try {
    return await fetch();
  } catch (error) {
    throw new MetricError(reason, `${prefix}${(error as Error).message}`);
  }
}

/** Formats thousandths as a quantity: cpu in milli-units, everything else in whole units if possible. */
const quantityText = (milli: number, resource?: string): string =>
  resource === "cpu" || milli % 1000 !== 0
    ? formatQuantity(parseQuantity(`${Math.round(milli)}m`))
    : formatQuantity(quantityOf(milli / 1000));

export async function resourceMetric(spec: MetricSpec, input: MetricInput): Promise<MetricResult> {
  const source = spec.type === "Resource" ? spec.resource! : spec.containerResource!;
  const container = spec.type === "ContainerResource" ? spec.containerResource!.container : undefined;
  const { name, target } = source;
  const reason = container === undefined ? "FailedGetResourceMetric" : "FailedGetContainerResourceMetric";
  const isShare = typeof target.averageUtilization === "number";
  const proposal = await withReason(
    reason,
    async (): Promise<Proposal> => {
      const metrics = await input.client
        .resource(input.namespace, input.selector, name, container)
        .catch((error: unknown) => {
          throw new Error(`unable to get metrics for resource ${name}: ${(error as Error).message}`);
        });
      const shared = { ...input, metrics, resource: name };
      return isShare
        ? replicasForUtilization({
            ...shared,
            target: target.averageUtilization!,
            requests: requestsOf(input.pods, name, container),
          })
        : replicasForAverage({
            ...shared,
            target: quantityMilliValue(parseQuantity(target.averageValue ?? "0")),
          });
    },
    `failed to get ${name} ${isShare ? "utilization" : "usage"}: `,
  );
  const current = {
    averageValue: quantityText(proposal.averageValue, name),
    ...(proposal.utilization !== undefined && { averageUtilization: proposal.utilization }),
  };
  const metric = `${name} ${container === undefined ? "" : "container "}resource${isShare ? " utilization (percentage of request)" : ""}`;
  return {
    replicas: proposal.replicas,
    metric,
    status:
      container === undefined
        ? { type: "Resource", resource: { name, current } }
        : { type: "ContainerResource", containerResource: { name, container, current } },
  };
}

function requestsOf(
  pods: readonly SeenPod[],
  resource: string,
  container: string | undefined,
): Map<string, number> {
  const requests = new Map<string, number>();
  for (const { metadata, spec } of pods) {
    let total = 0;
    for (const each of spec.containers ?? []) {
      if (container !== undefined && each.name !== container) continue;
      const request = each.resources?.requests?.[resource];
      if (request === undefined)
        throw new Error(`missing request for ${resource} in container ${each.name} of Pod ${metadata.name}`);
      total += quantityMilliValue(parseQuantity(request));
    }
    requests.set(metadata.name!, total);
  }
  return requests;
}

export async function podsMetric({ pods: source }: MetricSpec, input: MetricInput): Promise<MetricResult> {
  const { metric, target } = source!;
  const proposal = await withReason(
    "FailedGetPodsMetric",
    async () => {
      const metrics = await input.client.pods(input.namespace, input.selector, metric);
      return replicasForAverage({
        ...input,
        metrics,
        resource: "",
        target: quantityMilliValue(parseQuantity(target.averageValue ?? "0")),
      });
    },
    `unable to get metric ${metric.name}: `,
  );
  return {
    replicas: proposal.replicas,
    metric: `pods metric ${metric.name}`,
    status: {
      type: "Pods",
      pods: { metric, current: { averageValue: quantityText(proposal.averageValue) } },
    },
  };
}

/** Computes a proposal from a total value, compared with the target as a whole or per pod. */
function fromTotal(
  total: number,
  target: MetricTargetLike,
  { current, observed, pods, settings }: MetricInput,
): { replicas: number; current: object } {
  if (target.type === "AverageValue" || target.averageValue !== undefined) {
    const average = quantityMilliValue(parseQuantity(target.averageValue ?? "0"));
    const ratio = total / (average * observed);
    const replicas = Math.abs(1 - ratio) <= settings.tolerance ? observed : Math.ceil(total / average);
    return { replicas, current: { averageValue: quantityText(Math.ceil(total / Math.max(1, observed))) } };
  }
  const wanted = quantityMilliValue(parseQuantity(target.value ?? "0"));
  return {
    replicas: replicasForValue({ current, ratio: total / wanted, pods, tolerance: settings.tolerance }),
    current: { value: quantityText(total) },
  };
}
interface MetricTargetLike {
  readonly type?: string;
  readonly value?: string | undefined;
  readonly averageValue?: string | undefined;
}

export async function objectMetric({ object }: MetricSpec, input: MetricInput): Promise<MetricResult> {
  const { describedObject, metric, target } = object!;
  const { kind, name } = describedObject;
  const result = await withReason("FailedGetObjectMetric", async () => {
    const total = await input.client
      .object(input.namespace, describedObject, metric)
      .catch((error: unknown) => {
        // The order of the words matches the reference.
        const what = `unable to get metric ${metric.name}: ${kind} on ${input.namespace} ${name}`;
        throw new Error(`${what}/${(error as Error).message}`);
      });
    return fromTotal(total, target, input);
  });
  return {
    replicas: result.replicas,
    metric: `${kind} metric ${metric.name}`,
    status: { type: "Object", object: { describedObject, metric, current: result.current } },
  };
}

export async function externalMetric({ external }: MetricSpec, input: MetricInput): Promise<MetricResult> {
  const { metric, target } = external!;
  const selector = metric.selector ? labelSelectorText(metric.selector) : "";
  const result = await withReason("FailedGetExternalMetric", async () => {
    const values = await input.client
      .external(input.namespace, metric.name, selector)
      .catch((error: unknown) => {
        const what = `${input.namespace}/${metric.name}/${selectorText(metric.selector)}`;
        throw new Error(`unable to get external metric ${what}: ${(error as Error).message}`);
      });
    return fromTotal(
      values.reduce((sum, value) => sum + value, 0),
      target,
      input,
    );
  });
  return {
    replicas: result.replicas,
    metric: `external metric ${metric.name}`,
    status: { type: "External", external: { metric, current: result.current } },
  };
}
