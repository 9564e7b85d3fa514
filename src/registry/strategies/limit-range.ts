// Limit ranges: bounds and defaults for the resources of single objects.
import { LimitRange, type LimitRangeItem } from "#api";
import {
  type FieldError,
  compareQuantity,
  duplicate,
  forbiddenField,
  formatQuantity,
  invalidValue,
  parseQuantity,
  quantityOf,
  required,
  scaledValue,
} from "#base";
import { randomUUID } from "node:crypto";
import type { Dialect } from "#dialect";
import { strategy } from "../strategy.ts";
import { qualifiedNameErrors } from "./rules/format.ts";
import { roundUp } from "./rules/round-up.ts";
import { containerResourceErrors, mayOvercommit, resourceNameErrors } from "./rules/resource-name.ts";

const amountKeys = ["max", "min", "default", "defaultRequest", "maxLimitRequestRatio"] as const;
const standardTypes = ["Pod", "Container", "PersistentVolumeClaim"];

/**
 * Defaults of containers: the limit defaults to the maximum, the request to the limit or else the minimum.
 */
function fillDefaults(item: LimitRangeItem): void {
  if (item.type !== "Container") return;
  const limits = { ...item.max, ...item.default };
  const requests = { ...item.min, ...limits, ...item.defaultRequest };
  if (Object.keys(limits).length > 0) item.default = limits;
  if (Object.keys(requests).length > 0) item.defaultRequest = requests;
}

function errorsOf({ spec }: LimitRange, dialect: Dialect): FieldError[] {
  const types = new Set<string>();
  return (spec.limits ?? []).flatMap((item, position) => {
    const at = `spec.limits[${position}]`;
    const errors = typeErrors(item.type, `${at}.type`);
    if (types.has(item.type)) errors.push(duplicate(`${at}.type`, item.type));
    types.add(item.type);
    return [...errors, ...itemErrors(item, at, dialect)];
  });
}

function typeErrors(type: string, field: string): FieldError[] {
  const errors = qualifiedNameErrors(type, field);
  return errors.length > 0 || type.includes("/") || standardTypes.includes(type)
    ? errors
    : [invalidValue(field, type, "must be a standard limit type or fully qualified")];
}

function itemErrors(item: LimitRangeItem, at: string, dialect: Dialect): FieldError[] {
  const forPods = item.type === "Pod";
  const bags = (
    forPods
      ? ["max", "min", "maxLimitRequestRatio"]
      : ["max", "min", "default", "defaultRequest", "maxLimitRequestRatio"]
  ) as (keyof LimitRangeItem & ("max" | "min"))[];
  const errors: FieldError[] = [];
  const names = new Set<string>();
  for (const bag of bags) {
    for (const name of Object.keys(item[bag] ?? {})) {
      names.add(name);
      const field = `${at}.${bag}[${name}]`;
      errors.push(
        ...(forPods || item.type === "Container"
          ? containerResourceErrors(name, field, dialect)
          : resourceNameErrors(name, field)),
      );
    }
  }
  for (const bag of ["default", "defaultRequest"] as const) {
    if (forPods && Object.keys(item[bag] ?? {}).length > 0)
      errors.push(forbiddenField(`${at}.${bag}`, "may not be specified when `type` is 'Pod'"));
  }
  const storage = item.min?.["storage"] ?? item.max?.["storage"];
  if (item.type === "PersistentVolumeClaim" && storage === undefined)
    errors.push(
      required(
        `${at}.limits`,
        "either minimum or maximum storage value is required, but neither was provided",
      ),
    );
  for (const name of names) errors.push(...orderErrors(item, name, at, dialect));
  return errors;
}

/** Validates min ≤ default request ≤ default limit ≤ max, and that the ratio is consistent with them. */
function orderErrors(item: LimitRangeItem, name: string, at: string, dialect: Dialect): FieldError[] {
  const amount = (bag: Readonly<Record<string, string>> | undefined) =>
    bag?.[name] === undefined ? undefined : parseQuantity(bag[name]);
  const pods = item.type === "Pod";
  const [min, max, limit, request, ratio] = [
    amount(item.min),
    amount(item.max),
    pods ? undefined : amount(item.default),
    pods ? undefined : amount(item.defaultRequest),
    amount(item.maxLimitRequestRatio),
  ];
  const more = (a: typeof min, b: typeof min): boolean =>
    a !== undefined && b !== undefined && compareQuantity(a, b) > 0;
  const shown = { min, max, default: limit, defaultRequest: request, maxLimitRequestRatio: ratio };
  const descriptions = {
    min: "min",
    max: "max",
    default: "default",
    defaultRequest: "default request",
    maxLimitRequestRatio: "ratio",
  };
  const text = (bag: keyof typeof shown): string => formatQuantity(shown[bag]!);
  const wrong = (bag: keyof typeof shown, detail: string): FieldError =>
    invalidValue(`${at}.${bag}[${name}]`, text(bag), detail);
  const above = (
    low: keyof typeof shown,
    high: keyof typeof shown,
    blamed: keyof typeof shown,
    highSaid = descriptions[high],
  ): FieldError[] =>
    more(shown[low], shown[high])
      ? [
          wrong(
            blamed,
            `${descriptions[low]} value ${text(low)} is greater than ${highSaid} value ${text(high)}`,
          ),
        ]
      : [];
  const errors = [
    ...above("min", "max", "min"),
    ...above("min", "defaultRequest", "defaultRequest"),
    ...above("defaultRequest", "max", "defaultRequest"),
    ...above("defaultRequest", "default", "defaultRequest", "default limit"),
    ...above("min", "default", "default"),
    ...above("default", "max", "default"),
  ];
  if (more(quantityOf(1), ratio))
    errors.push(wrong("maxLimitRequestRatio", `ratio ${text("maxLimitRequestRatio")} is less than 1`));
  const span = min && max && Number(scaledValue(max, -3)) / Number(scaledValue(min, -3));
  if (ratio && span !== undefined && Number(scaledValue(ratio, -3)) / 1000 > span)
    errors.push(
      wrong(
        "maxLimitRequestRatio",
        `ratio ${text("maxLimitRequestRatio")} is greater than max/min = ${span.toFixed(6)}`,
      ),
    );
  if (!mayOvercommit(name, dialect) && limit && request && compareQuantity(limit, request) !== 0)
    errors.push(
      wrong(
        "defaultRequest",
        `default value ${text("default")} must equal to defaultRequest value ${text("defaultRequest")} in ${name}`,
      ),
    );
  return errors;
}

export const limitRange = strategy<LimitRange>({
  resource: "limitranges",
  singular: "limitrange",
  shortNames: ["limits"],
  scope: "Namespaced",
  hub: LimitRange,
  metaChecks: { asNew: 1, asChange: 0 },
  createOnUpdate: true,
  defaults: ({ spec }) => {
    for (const item of spec.limits ?? []) {
      for (const key of amountKeys) roundUp(item[key]);
      fillDefaults(item);
    }
  },
  prepareForCreate: ({ metadata }) => {
    metadata.name ||= randomUUID();
  },
  validate: (obj, { dialect }) => errorsOf(obj, dialect),
});
