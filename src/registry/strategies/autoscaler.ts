// Horizontal pod autoscalers.
import {
  type CrossVersionObjectReference,
  type HPAScalingRules,
  HorizontalPodAutoscaler,
  type HorizontalPodAutoscalerSpec,
  HorizontalPodAutoscalerV1,
  type MetricIdentifier,
  type MetricSpec,
  type MetricStatus,
  type MetricTarget,
} from "#api";
import {
  type FieldError,
  forbiddenField,
  invalidValue,
  notSupported,
  own,
  parseQuantity,
  required,
} from "#base";
import type { Dialect } from "#dialect";
import { dns1123LabelProblems } from "#schema";
import { strategy } from "../strategy.ts";
import { defaultMetrics, fromV1, toV1 } from "./autoscaler-v1.ts";
import { ageColumn, nameColumn } from "./cells/columns.ts";
import { statusPart } from "./parts.ts";
import { formatErrors, pathSegmentProblems } from "./rules/format.ts";
import { notNegative } from "./rules/numbers.ts";
import { supported } from "./rules/one-of.ts";
import { containerResourceErrors } from "./rules/resource-name.ts";

const maxPeriodSeconds = 1800;
const maxWindowSeconds = 3600;

const upwards = (): HPAScalingRules => ({
  stabilizationWindowSeconds: 0,
  selectPolicy: "Max",
  policies: [
    { type: "Pods", value: 4, periodSeconds: 15 },
    { type: "Percent", value: 100, periodSeconds: 15 },
  ],
});
const downwards = (): HPAScalingRules => ({
  selectPolicy: "Max",
  policies: [{ type: "Percent", value: 100, periodSeconds: 15 }],
});

function defaults({ spec }: HorizontalPodAutoscaler): void {
  if (!spec.metrics?.length) spec.metrics = defaultMetrics();
  if (spec.behavior)
    spec.behavior = {
      scaleUp: { ...upwards(), ...spec.behavior.scaleUp },
      scaleDown: { ...downwards(), ...spec.behavior.scaleDown },
    };
}

function specErrors(spec: HorizontalPodAutoscalerSpec, minimum: number, dialect: Dialect): FieldError[] {
  const { minReplicas: least, maxReplicas: most, metrics = [], behavior } = spec;
  const errors =
    least !== undefined && least < minimum
      ? [invalidValue("spec.minReplicas", least, `must be greater than or equal to ${minimum}`)]
      : [];
  if (most < 1) errors.push(invalidValue("spec.maxReplicas", most, "must be greater than 0"));
  if (least !== undefined && most < least)
    errors.push(invalidValue("spec.maxReplicas", most, "must be greater than or equal to `minReplicas`"));
  errors.push(...referenceErrors(spec.scaleTargetRef, "spec.scaleTargetRef"));
  metrics.forEach((metric, position) =>
    errors.push(...metricErrors(metric, `spec.metrics[${position}]`, dialect)),
  );
  const measurable = metrics.some(({ type }) => type === "Object" || type === "External");
  if (least === 0 && !measurable)
    errors.push(
      forbiddenField(
        "spec.metrics",
        "must specify at least one Object or External metric to support scaling to zero replicas",
      ),
    );
  return [
    ...errors,
    ...rulesErrors(behavior?.scaleUp, "spec.behavior.scaleUp"),
    ...rulesErrors(behavior?.scaleDown, "spec.behavior.scaleDown"),
  ];
}

const segmentErrors = (text: string, field: string, detail = ""): FieldError[] =>
  text ? formatErrors(text, field, pathSegmentProblems) : [required(field, detail)];
const referenceErrors = ({ kind, name }: CrossVersionObjectReference, at: string): FieldError[] => [
  ...segmentErrors(kind, `${at}.kind`),
  ...segmentErrors(name, `${at}.name`),
];

function rulesErrors(rules: HPAScalingRules | undefined, at: string): FieldError[] {
  if (!rules) return [];
  const { stabilizationWindowSeconds: window, selectPolicy, policies } = rules;
  const errors =
    window !== undefined && window < 0
      ? [invalidValue(`${at}.stabilizationWindowSeconds`, window, "must be greater than or equal to zero")]
      : [];
  if (window !== undefined && window > maxWindowSeconds)
    errors.push(
      invalidValue(
        `${at}.stabilizationWindowSeconds`,
        window,
        `must be less than or equal to ${maxWindowSeconds}`,
      ),
    );
  if (selectPolicy !== undefined)
    errors.push(...supported(selectPolicy, `${at}.selectPolicy`, ["Disabled", "Max", "Min"]));
  if (!policies?.length) errors.push(required(`${at}.policies`, "must specify at least one Policy"));
  policies?.forEach(({ type, value, periodSeconds }, position) => {
    const path = `${at}.policies[${position}]`;
    errors.push(...supported(type, `${path}.type`, ["Percent", "Pods"]));
    if (value <= 0) errors.push(invalidValue(`${path}.value`, value, "must be greater than zero"));
    if (periodSeconds <= 0)
      errors.push(invalidValue(`${path}.periodSeconds`, periodSeconds, "must be greater than zero"));
    if (periodSeconds > maxPeriodSeconds)
      errors.push(
        invalidValue(
          `${path}.periodSeconds`,
          periodSeconds,
          `must be less than or equal to ${maxPeriodSeconds}`,
        ),
      );
  });
  return errors;
}

/** Metric sources in the order in which they are checked; the first one that is set is validated. */
const sources = ["object", "external", "pods", "resource", "containerResource"] as const;
const sourceOf: Readonly<Record<string, (typeof sources)[number]>> = {
  Object: "object",
  Pods: "pods",
  Resource: "resource",
  External: "external",
  ContainerResource: "containerResource",
};

function metricErrors(metric: MetricSpec, at: string, dialect: Dialect): FieldError[] {
  const types = Object.keys(sourceOf).toSorted();
  const unknown = notSupported(`${at}.type`, metric.type, types);
  const errors: FieldError[] = metric.type
    ? []
    : [required(`${at}.type`, "must specify a metric source type")];
  const expected = own(sourceOf, metric.type);
  if (!expected) errors.push(unknown);
  const given = sources.filter((key) => metric[key]);
  if (given[0]) errors.push(...sourceErrors(metric, given[0], `${at}.${given[0]}`, dialect));
  // The reference reports an unknown type twice.
  if (!expected) errors.push(unknown);
  else if (!metric[expected])
    errors.push(required(`${at}.${expected}`, "must populate information for the given metric source"));
  if (given.length !== 1)
    for (const key of given)
      if (key !== expected)
        errors.push(forbiddenField(`${at}.${key}`, "must populate the given metric source only"));
  return errors;
}

function sourceErrors(
  metric: MetricSpec,
  key: (typeof sources)[number],
  at: string,
  dialect: Dialect,
): FieldError[] {
  const { target } = metric[key]!;
  const targetProblems = targetErrors(target, `${at}.target`);
  const one = (field: string, fine: boolean, detail: string): FieldError[] =>
    fine ? [] : [required(`${at}.target.${field}`, detail)];
  const { value, averageValue, averageUtilization } = target;
  const usage = [
    ...one(
      "averageUtilization",
      averageUtilization !== undefined || averageValue !== undefined,
      "must set either a target raw value or a target utilization",
    ),
    ...(averageUtilization !== undefined && averageValue !== undefined
      ? [
          forbiddenField(
            `${at}.target.averageValue`,
            "may not set both a target raw value and a target utilization",
          ),
        ]
      : []),
  ];
  switch (key) {
    case "object":
      return [
        ...referenceErrors(metric.object!.describedObject, `${at}.describedObject`),
        ...nameErrors(metric.object!.metric, `${at}.metric`),
        ...targetProblems,
        ...one(
          "averageValue",
          value !== undefined || averageValue !== undefined,
          "must set either a target value or averageValue",
        ),
      ];
    case "external": {
      const both =
        value !== undefined && averageValue !== undefined
          ? [
              forbiddenField(
                `${at}.target.value`,
                "may not set both a target value for metric and a per-pod target",
              ),
            ]
          : [];
      const any = one(
        "averageValue",
        value !== undefined || averageValue !== undefined,
        "must set either a target value for metric or a per-pod target",
      );
      return [...nameErrors(metric.external!.metric, `${at}.metric`), ...targetProblems, ...any, ...both];
    }
    case "pods":
      return [
        ...nameErrors(metric.pods!.metric, `${at}.metric`),
        ...targetProblems,
        ...one("averageValue", averageValue !== undefined, "must specify a positive target averageValue"),
      ];
    case "resource":
      return [
        ...(metric.resource!.name ? [] : [required(`${at}.name`, "must specify a resource name")]),
        ...targetProblems,
        ...usage,
      ];
    case "containerResource": {
      const { name, container } = metric.containerResource!;
      const errors = name
        ? containerResourceErrors(name, `${at}.name`, dialect)
        : [required(`${at}.name`, "must specify a resource name")];
      return [
        ...errors,
        ...(container
          ? formatErrors(container, `${at}.container`, dns1123LabelProblems)
          : [required(`${at}.container`, "must specify a container")]),
        ...targetProblems,
        ...usage,
      ];
    }
  }
}

const nameErrors = ({ name }: MetricIdentifier, at: string): FieldError[] =>
  segmentErrors(name, `${at}.name`, "must specify a metric name");

function targetErrors(
  { type, value, averageValue, averageUtilization }: MetricTarget,
  at: string,
): FieldError[] {
  const errors = type ? [] : [required(`${at}.type`, "must specify a metric target type")];
  if (!["Utilization", "Value", "AverageValue"].includes(type))
    errors.push(invalidValue(`${at}.type`, type, "must be either Utilization, Value, or AverageValue"));
  const positive = (text: string | undefined, field: string): FieldError[] =>
    text !== undefined && parseQuantity(text).value <= 0n
      ? [invalidValue(field, text, "must be positive")]
      : [];
  errors.push(...positive(value, `${at}.value`), ...positive(averageValue, `${at}.averageValue`));
  return averageUtilization !== undefined && averageUtilization < 1
    ? [...errors, invalidValue(`${at}.averageUtilization`, averageUtilization, "must be greater than 0")]
    : errors;
}

const shown = 2;
const unknown = "<unknown>";

/** Formats current and target values: `40%/70%, 3/10 + 1 more...`. */
function targetsText({ spec, status }: HorizontalPodAutoscaler): string {
  if (!spec.metrics?.length) return "<none>";
  const items = spec.metrics.map((metric, position) => targetText(metric, status.currentMetrics?.[position]));
  const text = items.slice(0, shown).join(", ");
  return items.length > shown ? `${text} + ${items.length - shown} more...` : text;
}

function targetText(metric: MetricSpec, measured: MetricStatus | undefined): string {
  const key = own(sourceOf, metric.type);
  const target = key && metric[key]?.target;
  if (!key || !target) return "<unknown type>";
  const current = measured?.[key]?.current;
  const absent = current ? "<nil>" : unknown;
  const total = key === "external" || key === "object";
  if (target.averageValue !== undefined)
    return total
      ? `${current?.averageValue ?? unknown}/${target.averageValue} (avg)`
      : `${current?.averageValue ?? absent}/${target.averageValue}`;
  if (total) return `${current?.value ?? absent}/${target.value ?? "<nil>"}`;
  const percent = (value: number | undefined, otherwise: string): string =>
    value === undefined ? otherwise : `${value}%`;
  return `${percent(current?.averageUtilization, unknown)}/${percent(target.averageUtilization, "<auto>")}`;
}

export const horizontalPodAutoscaler = strategy<HorizontalPodAutoscaler>({
  resource: "horizontalpodautoscalers",
  singular: "horizontalpodautoscaler",
  shortNames: ["hpa"],
  categories: ["all"],
  scope: "Namespaced",
  hub: HorizontalPodAutoscaler,
  served: [
    { schema: HorizontalPodAutoscaler },
    { schema: HorizontalPodAutoscalerV1, toHub: fromV1, fromHub: toV1 },
  ],
  status: "cleared",
  defaults,
  prepareForCreate: (obj) => {
    obj.status = { desiredReplicas: 0, currentMetrics: null };
  },
  validate: ({ spec }, { dialect, settings }) => specErrors(spec, settings.scaleToZero ? 0 : 1, dialect),
  validateUpdate: ({ spec }, { spec: old }, { dialect, settings }) =>
    specErrors(spec, settings.scaleToZero || old.minReplicas === 0 ? 0 : 1, dialect),
  subresources: {
    status: statusPart(({ status }) => [
      ...notNegative(status.currentReplicas, "status.currentReplicas"),
      ...notNegative(status.desiredReplicas, "status.desiredReplicas"),
    ]),
  },
  columns: [
    nameColumn,
    {
      name: "Reference",
      type: "string",
      doc: "Kind and name of the scaled object.",
      cell: ({ spec }: HorizontalPodAutoscaler) => `${spec.scaleTargetRef.kind}/${spec.scaleTargetRef.name}`,
    },
    { name: "Targets", type: "string", doc: "Current and target value of each metric.", cell: targetsText },
    {
      name: "MinPods",
      type: "string",
      doc: "Minimum number of pods.",
      cell: ({ spec }: HorizontalPodAutoscaler) =>
        spec.minReplicas === undefined ? "<unset>" : String(spec.minReplicas),
    },
    {
      name: "MaxPods",
      type: "string",
      doc: "Maximum number of pods.",
      cell: ({ spec }: HorizontalPodAutoscaler) => spec.maxReplicas,
    },
    {
      name: "Replicas",
      type: "string",
      doc: "Number of pods.",
      cell: ({ status }: HorizontalPodAutoscaler) => status.currentReplicas ?? 0,
    },
    ageColumn,
  ],
});
