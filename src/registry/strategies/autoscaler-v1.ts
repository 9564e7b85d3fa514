// Conversion of horizontal pod autoscalers to and from v1, which supports only CPU utilization. All other
// fields are encoded in annotations as JSON.
import type {
  HPAScalingRules,
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerV1,
  MetricSpec,
  MetricStatus,
  MetricTarget,
  ObjectMeta,
} from "#api";
import type { Dialect } from "#dialect";
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

/** Parses the JSON of an annotation; malformed text counts as absent. */
function parsed<T>(text: string | undefined): T | undefined {
  try {
    return text === undefined ? undefined : (JSON.parse(text) as T);
  } catch {
    return undefined;
  }
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
  const { currentCPUUtilizationPercentage: used, ...counts } = status;
  const others = (parsed<Json[]>(given[keys.metrics]) ?? []).map(metricFromV1);
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
  const behavior = parsed<{ ScaleUp?: Json | null; ScaleDown?: Json | null }>(given[keys.behavior]);
  const measured = parsed<Json[]>(given[keys.currentMetrics])?.map(measuredFromV1);
  const conditions = parsed<NonNullable<HorizontalPodAutoscaler["status"]["conditions"]>>(
    given[keys.conditions],
  );
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
      ...(behavior &&
        (behavior.ScaleUp || behavior.ScaleDown) && {
          behavior: {
            ...(behavior.ScaleUp && { scaleUp: rulesFrom(behavior.ScaleUp) }),
            ...(behavior.ScaleDown && { scaleDown: rulesFrom(behavior.ScaleDown) }),
          },
        }),
    },
    status: { ...counts, currentMetrics: current, ...(conditions?.length && { conditions }) },
  } as unknown as HorizontalPodAutoscaler;
}

const isCpuShare = ({ type, resource }: MetricSpec): boolean =>
  type === "Resource" && resource?.name === "cpu" && resource.target.averageUtilization !== undefined;

export function toV1(hub: HorizontalPodAutoscaler, dialect: Dialect): ApiObject {
  const { metadata, spec, status } = hub;
  const { metrics, behavior, ...bounds } = spec;
  const { currentMetrics, conditions, ...counts } = status;
  const keys = keysIn(dialect);
  const share = metrics?.findLast(isCpuShare)?.resource?.target.averageUtilization;
  const used = currentMetrics?.find(({ type, resource }) => type === "Resource" && resource?.name === "cpu")
    ?.resource?.current.averageUtilization;
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

function rulesFrom({
  StabilizationWindowSeconds: window,
  SelectPolicy: select,
  Policies: policies,
}: Json): HPAScalingRules {
  return {
    ...(typeof window === "number" && { stabilizationWindowSeconds: window }),
    ...(typeof select === "string" && { selectPolicy: select }),
    ...(Array.isArray(policies) && {
      policies: policies.map(
        ({ Type, Value, PeriodSeconds }: { Type: string; Value: number; PeriodSeconds: number }) => ({
          type: Type,
          value: Value,
          periodSeconds: PeriodSeconds,
        }),
      ),
    }),
  };
}

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

function metricFromV1({ type, object, pods, resource, containerResource, external }: Json): MetricSpec {
  const at = (source: unknown): Json => source as Json;
  const target = (kind: string, values: Json): MetricTarget =>
    present({ type: kind, ...values }) as unknown as MetricTarget;
  const usage = (source: Json): MetricTarget =>
    target(source["targetAverageUtilization"] === undefined ? "AverageValue" : "Utilization", {
      averageValue: source["targetAverageValue"],
      averageUtilization: source["targetAverageUtilization"],
    });
  const kindOf = (average: unknown): string => (average === undefined ? "Value" : "AverageValue");
  return present({
    type,
    object: object && {
      describedObject: at(object)["target"],
      target: target(kindOf(at(object)["averageValue"]), {
        value: at(object)["targetValue"],
        averageValue: at(object)["averageValue"],
      }),
      metric: present({ name: at(object)["metricName"], selector: at(object)["selector"] }),
    },
    pods: pods && {
      metric: present({ name: at(pods)["metricName"], selector: at(pods)["selector"] }),
      target: target("AverageValue", { averageValue: at(pods)["targetAverageValue"] }),
    },
    resource: resource && { name: at(resource)["name"], target: usage(at(resource)) },
    containerResource: containerResource && {
      name: at(containerResource)["name"],
      target: usage(at(containerResource)),
      container: at(containerResource)["container"],
    },
    external: external && {
      metric: present({ name: at(external)["metricName"], selector: at(external)["metricSelector"] }),
      target: target(kindOf(at(external)["targetAverageValue"]), {
        value: at(external)["targetValue"],
        averageValue: at(external)["targetAverageValue"],
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

function measuredFromV1({ type, object, pods, resource, containerResource, external }: Json): MetricStatus {
  const at = (source: unknown): Json => source as Json;
  const usage = (source: Json): Json =>
    present({
      averageValue: source["currentAverageValue"],
      averageUtilization: source["currentAverageUtilization"],
    });
  return present({
    type,
    object: object && {
      metric: present({ name: at(object)["metricName"], selector: at(object)["selector"] }),
      current: present({ value: at(object)["currentValue"], averageValue: at(object)["averageValue"] }),
      describedObject: at(object)["target"],
    },
    pods: pods && {
      metric: present({ name: at(pods)["metricName"], selector: at(pods)["selector"] }),
      current: present({ averageValue: at(pods)["currentAverageValue"] }),
    },
    resource: resource && { name: at(resource)["name"], current: usage(at(resource)) },
    containerResource: containerResource && {
      name: at(containerResource)["name"],
      current: usage(at(containerResource)),
      container: at(containerResource)["container"],
    },
    external: external && {
      metric: present({ name: at(external)["metricName"], selector: at(external)["metricSelector"] }),
      current: present({
        value: at(external)["currentValue"],
        averageValue: at(external)["currentAverageValue"],
      }),
    },
  }) as unknown as MetricStatus;
}
