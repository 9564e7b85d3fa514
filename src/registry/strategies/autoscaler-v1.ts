// Conversion of horizontal pod autoscalers to and from v1, which supports only CPU utilization. All other
// fields are encoded in annotations as JSON.
import {
  AutoscalerAnnotations,
  type HPAScalingRules,
  type HorizontalPodAutoscaler,
  type HorizontalPodAutoscalerV1,
  type MetricSpec,
  type MetricSpecV1,
  type MetricStatus,
  type MetricStatusV1,
  type MetricTarget,
  type ObjectMeta,
} from "#api";
import type { Dialect } from "#dialect";
import { DecodeError, type Shape, decodeJson } from "#schema";
import type { ApiObject } from "../strategy.ts";

type Json = Record<string, unknown>;

const keysIn = ({ data }: Dialect) => {
  const prefix = `autoscaling.alpha.${data.labelDomain}/`;
  return {
    metrics: `${prefix}metrics`,
    behavior: `${prefix}behavior`,
    currentMetrics: `${prefix}current-metrics`,
    conditions: `${prefix}conditions`,
  };
};

export const defaultMetrics = (): MetricSpec[] => [
  { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 80 } } },
];

/**
 * Decodes the JSON of an annotation as the named field. Text of another type counts as absent, and names are
 * matched regardless of case, as in kube-apiserver.
 */
function decoded<K extends keyof AutoscalerAnnotations>(
  name: K,
  text: string | undefined,
): AutoscalerAnnotations[K] | undefined {
  if (text === undefined) return undefined;
  try {
    const value = matchCase(AutoscalerAnnotations.fields[name].shape, JSON.parse(text));
    return decodeJson(AutoscalerAnnotations, JSON.stringify({ [name]: value })).value[name];
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof DecodeError) return undefined;
    throw error;
  }
}

/** Returns the value with the declared spelling of all names that differ from it only in case. */
function matchCase(shape: Shape, value: unknown): unknown {
  if (shape.shape === "list" && Array.isArray(value)) return value.map((item) => matchCase(shape.of, item));
  if (shape.shape !== "message" || typeof value !== "object" || value === null || Array.isArray(value))
    return value;
  const names = new Map(Object.keys(shape.fields).map((name) => [name.toLowerCase(), name]));
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, part]) => {
      const name = names.get(key.toLowerCase());
      return name === undefined ? [] : [[name, matchCase(shape.fields[name]!.shape, part)]];
    }),
  );
}

const without = (
  annotations: Readonly<Record<string, string>> | undefined,
  keys: readonly string[],
): Record<string, string> =>
  Object.fromEntries(Object.entries(annotations ?? {}).filter(([key]) => !keys.includes(key)));

export function fromV1(served: ApiObject, dialect: Dialect): HorizontalPodAutoscaler {
  const { metadata, spec, status } = served as HorizontalPodAutoscalerV1;
  const keys = keysIn(dialect);
  const given = metadata.annotations ?? {};
  const { targetCPUUtilizationPercentage: share, ...bounds } = spec;
  const { currentCPUUtilizationPercentage: used, currentReplicas, ...counts } = status;
  // Of the counts, v2 omits this one if it is zero.
  const shown = { ...counts, ...(currentReplicas && { currentReplicas }) };
  const others = (decoded("metrics", given[keys.metrics]) ?? []).map(metricFromV1);
  const metrics = [
    ...others,
    ...(share === undefined
      ? []
      : [
          {
            type: "Resource",
            resource: { name: "cpu", target: { type: "Utilization", averageUtilization: share } },
          },
        ]),
  ];
  const behavior = decoded("behavior", given[keys.behavior]);
  const measured = decoded("currentMetrics", given[keys.currentMetrics])?.map(measuredFromV1);
  const conditions = decoded("conditions", given[keys.conditions]);
  const annotations = without(metadata.annotations, Object.values(keys));
  const current = measured?.length
    ? measured
    : used === undefined
      ? null
      : [{ type: "Resource", resource: { name: "cpu", current: { averageUtilization: used } } }];
  const { annotations: _given, ...rest } = metadata;
  return {
    ...served,
    metadata: { ...rest, ...(Object.keys(annotations).length > 0 && { annotations }) },
    spec: {
      ...bounds,
      metrics: metrics.length > 0 ? metrics : defaultMetrics(),
      ...(behavior && (behavior.scaleUp || behavior.scaleDown) && { behavior }),
    },
    status: { ...shown, currentMetrics: current, ...(conditions?.length && { conditions }) },
  } as unknown as HorizontalPodAutoscaler;
}

const isCpuShare = ({ type, resource }: MetricSpec): boolean =>
  type === "Resource" && resource?.name === "cpu" && resource.target.averageUtilization !== undefined;

export function toV1(hub: HorizontalPodAutoscaler, dialect: Dialect): ApiObject {
  const { metadata, spec, status } = hub;
  const { metrics, behavior, ...bounds } = spec;
  const { currentMetrics, conditions, ...counts } = status;
  const keys = keysIn(dialect);
  const share = metrics?.find(isCpuShare)?.resource?.target.averageUtilization;
  const used = currentMetrics?.findLast(
    ({ type, resource }) =>
      type === "Resource" && resource?.name === "cpu" && resource.current.averageUtilization !== undefined,
  )?.resource?.current.averageUtilization;
  const others = (metrics ?? []).filter((metric) => !isCpuShare(metric));
  const notes: Record<string, string> = {};
  if (others.length > 0) notes[keys.metrics] = JSON.stringify(others.map(metricToV1));
  if (currentMetrics?.length) notes[keys.currentMetrics] = JSON.stringify(currentMetrics.map(measuredToV1));
  if (behavior)
    notes[keys.behavior] = JSON.stringify({
      ScaleUp: rulesTo(behavior.scaleUp),
      ScaleDown: rulesTo(behavior.scaleDown),
    });
  if (conditions?.length) notes[keys.conditions] = JSON.stringify(conditions);
  const annotations = { ...without(metadata.annotations, Object.values(keys)), ...notes };
  const { desiredReplicas, currentReplicas = 0, ...times } = counts;
  return {
    ...hub,
    metadata: annotated(metadata, annotations),
    spec: { ...bounds, ...(share !== undefined && { targetCPUUtilizationPercentage: share }) },
    status: {
      ...times,
      currentReplicas,
      desiredReplicas,
      ...(used !== undefined && { currentCPUUtilizationPercentage: used }),
    },
  } as unknown as ApiObject;
}

/** Returns the metadata with the given annotations, in canonical field order. */
function annotated(metadata: ObjectMeta, annotations: Record<string, string>): ObjectMeta {
  const { annotations: _former, ownerReferences, finalizers, managedFields, ...first } = metadata;
  return {
    ...first,
    ...(Object.keys(annotations).length > 0 && { annotations }),
    ...(ownerReferences && { ownerReferences }),
    ...(finalizers && { finalizers }),
    ...(managedFields && { managedFields }),
  };
}

const rulesTo = (rules: HPAScalingRules | undefined): Json | null =>
  rules
    ? {
        StabilizationWindowSeconds: rules.stabilizationWindowSeconds ?? null,
        SelectPolicy: rules.selectPolicy ?? null,
        Policies:
          rules.policies?.map(({ type, value, periodSeconds }) => ({
            Type: type,
            Value: value,
            PeriodSeconds: periodSeconds,
          })) ?? null,
      }
    : null;

/** Omits undefined entries, so that a text survives a round trip unchanged. */
const present = (entries: Json): Json =>
  Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined));
const nothing = "0";

function metricToV1({ type, object, pods, resource, containerResource, external }: MetricSpec): Json {
  return present({
    type,
    object:
      object &&
      present({
        target: object.describedObject,
        metricName: object.metric.name,
        targetValue: object.target.value ?? nothing,
        selector: object.metric.selector,
        averageValue: object.target.averageValue,
      }),
    pods:
      pods &&
      present({
        metricName: pods.metric.name,
        targetAverageValue: pods.target.averageValue ?? nothing,
        selector: pods.metric.selector,
      }),
    resource:
      resource &&
      present({
        name: resource.name,
        targetAverageUtilization: resource.target.averageUtilization,
        targetAverageValue: resource.target.averageValue,
      }),
    containerResource:
      containerResource &&
      present({
        name: containerResource.name,
        targetAverageUtilization: containerResource.target.averageUtilization,
        targetAverageValue: containerResource.target.averageValue,
        container: containerResource.container,
      }),
    external:
      external &&
      present({
        metricName: external.metric.name,
        metricSelector: external.metric.selector,
        targetValue: external.target.value,
        targetAverageValue: external.target.averageValue,
      }),
  });
}

function metricFromV1({
  type,
  object,
  pods,
  resource,
  containerResource,
  external,
}: MetricSpecV1): MetricSpec {
  const target = (kind: string, values: Json): MetricTarget =>
    present({ type: kind, ...values }) as unknown as MetricTarget;
  const usage = (source: NonNullable<MetricSpecV1["resource"]>): MetricTarget =>
    target(source.targetAverageUtilization === undefined ? "AverageValue" : "Utilization", {
      averageValue: source.targetAverageValue,
      averageUtilization: source.targetAverageUtilization,
    });
  const kindOf = (average: unknown): string => (average === undefined ? "Value" : "AverageValue");
  return present({
    type,
    object: object && {
      describedObject: object.target,
      target: target(kindOf(object.averageValue), {
        value: object.targetValue,
        averageValue: object.averageValue,
      }),
      metric: present({ name: object.metricName, selector: object.selector }),
    },
    pods: pods && {
      metric: present({ name: pods.metricName, selector: pods.selector }),
      target: target("AverageValue", { averageValue: pods.targetAverageValue }),
    },
    resource: resource && { name: resource.name, target: usage(resource) },
    containerResource: containerResource && {
      name: containerResource.name,
      target: usage(containerResource),
      container: containerResource.container,
    },
    external: external && {
      metric: present({ name: external.metricName, selector: external.metricSelector }),
      target: target(kindOf(external.targetAverageValue), {
        value: external.targetValue,
        averageValue: external.targetAverageValue,
      }),
    },
  }) as unknown as MetricSpec;
}

function measuredToV1({ type, object, pods, resource, containerResource, external }: MetricStatus): Json {
  return present({
    type,
    object:
      object &&
      present({
        target: object.describedObject,
        metricName: object.metric.name,
        currentValue: object.current.value ?? nothing,
        selector: object.metric.selector,
        averageValue: object.current.averageValue,
      }),
    pods:
      pods &&
      present({
        metricName: pods.metric.name,
        currentAverageValue: pods.current.averageValue ?? nothing,
        selector: pods.metric.selector,
      }),
    resource:
      resource &&
      present({
        name: resource.name,
        currentAverageUtilization: resource.current.averageUtilization,
        currentAverageValue: resource.current.averageValue ?? nothing,
      }),
    containerResource:
      containerResource &&
      present({
        name: containerResource.name,
        currentAverageUtilization: containerResource.current.averageUtilization,
        currentAverageValue: containerResource.current.averageValue ?? nothing,
        container: containerResource.container,
      }),
    external:
      external &&
      present({
        metricName: external.metric.name,
        metricSelector: external.metric.selector,
        currentValue: external.current.value ?? nothing,
        currentAverageValue: external.current.averageValue,
      }),
  });
}

function measuredFromV1({
  type,
  object,
  pods,
  resource,
  containerResource,
  external,
}: MetricStatusV1): MetricStatus {
  const usage = (source: NonNullable<MetricStatusV1["resource"]>): Json =>
    present({
      averageValue: source.currentAverageValue,
      averageUtilization: source.currentAverageUtilization,
    });
  return present({
    type,
    object: object && {
      metric: present({ name: object.metricName, selector: object.selector }),
      current: present({ value: object.currentValue, averageValue: object.averageValue }),
      describedObject: object.target,
    },
    pods: pods && {
      metric: present({ name: pods.metricName, selector: pods.selector }),
      current: { averageValue: pods.currentAverageValue },
    },
    resource: resource && { name: resource.name, current: usage(resource) },
    containerResource: containerResource && {
      name: containerResource.name,
      current: usage(containerResource),
      container: containerResource.container,
    },
    external: external && {
      metric: present({ name: external.metricName, selector: external.metricSelector }),
      current: present({
        value: external.currentValue,
        averageValue: external.currentAverageValue,
      }),
    },
  }) as unknown as MetricStatus;
}
