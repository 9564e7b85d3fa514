// Names of resources, and quantities of them.
import { type FieldError, invalidValue, isQualifiedName, isWholeQuantity, parseQuantity } from "#base";
import type { Dialect } from "#dialect";
import { qualifiedNameErrors } from "./format.ts";

const compute = ["cpu", "memory", "ephemeral-storage"];
const counted = [
  "pods",
  "resourcequotas",
  "services",
  "replicationcontrollers",
  "secrets",
  "configmaps",
  "persistentvolumeclaims",
  "services.nodeports",
  "services.loadbalancers",
];
const quota = [
  ...compute,
  ...compute.flatMap((name) => [`requests.${name}`, `limits.${name}`]),
  "requests.storage",
  ...counted,
];

const isHugePage = (name: string): boolean => name.startsWith("hugepages-");
export const isQuotaResource = (name: string): boolean =>
  quota.includes(name) || isHugePage(name) || name.startsWith("requests.hugepages-");
const isStandard = (name: string): boolean => isQuotaResource(name) || name === "storage";

/** Reports whether a resource without a domain, or in the product's domain, is a built-in one. */
export const isNative = (name: string, { names }: Dialect): boolean =>
  !name.includes("/") || name.includes(names.resources.nativePrefix);
const isExtended = (name: string, dialect: Dialect): boolean =>
  !isNative(name, dialect) && !name.startsWith("requests.") && isQualifiedName(`requests.${name}`);
export const mayOvercommit = (name: string, dialect: Dialect): boolean =>
  isNative(name, dialect) && !isHugePage(name);

export function resourceNameErrors(name: string, field: string): FieldError[] {
  const errors = qualifiedNameErrors(name, field);
  return errors.length > 0 || name.includes("/") || isStandard(name)
    ? errors
    : [invalidValue(field, name, "must be a standard resource type or fully qualified")];
}

export function quotaResourceErrors(name: string, field: string): FieldError[] {
  const errors = resourceNameErrors(name, field);
  return name.includes("/") || isQuotaResource(name)
    ? errors
    : [...errors, invalidValue(field, name, "must be a standard resource for quota")];
}

/**
 * Validates the resource name of a container; an unknown name is reported twice: as a resource, and as one
 * for containers.
 */
export function containerResourceErrors(name: string, field: string, dialect: Dialect): FieldError[] {
  const errors = resourceNameErrors(name, field);
  if (!name.includes("/")) {
    if (!compute.includes(name) && !isHugePage(name))
      errors.push(invalidValue(field, name, "must be a standard resource for containers"));
  } else if (!isNative(name, dialect) && !isExtended(name, dialect))
    errors.push(invalidValue(field, name, "doesn't follow extended resource name standard"));
  return errors;
}

/** Validates that quantities are not negative, and that those of countable resources are integers. */
export function amountErrors(name: string, amount: string, field: string, dialect: Dialect): FieldError[] {
  const quantity = parseQuantity(amount);
  const errors =
    quantity.value < 0n ? [invalidValue(field, amount, "must be greater than or equal to 0")] : [];
  const whole = counted.includes(name) || isExtended(name, dialect);
  if (whole && !isWholeQuantity(quantity)) errors.push(invalidValue(field, amount, "must be an integer"));
  return errors;
}
