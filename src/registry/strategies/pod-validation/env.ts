// Validation of environment variables and of references to fields of the pod.
import type {
  ConfigMapKeySelector,
  EnvFromSource,
  EnvVar,
  ObjectFieldSelector,
  ResourceFieldSelector,
  SecretKeySelector,
} from "#api";
import { type FieldError, canonicalQuantity, invalidValue, notSupported, required } from "#base";
import {
  configKeyProblems,
  dns1123SubdomainProblems,
  environmentNameProblems,
  relaxedEnvironmentNameProblems,
} from "#schema";
import type { PodRules } from "./rules.ts";
import { formatErrors, qualifiedNameErrors } from "../rules/format.ts";

const environmentFields = [
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
  "spec.nodeName",
  "spec.serviceAccountName",
  "status.hostIP",
  "status.podIP",
  "status.podIPs",
];
const laterEnvironmentFields = [...environmentFields, "status.hostIPs"].toSorted();
export const volumeFields = [
  "metadata.annotations",
  "metadata.labels",
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
];
const anyField = new Set([
  ...laterEnvironmentFields,
  ...volumeFields,
  "spec.restartPolicy",
  "spec.schedulerName",
  "status.phase",
  "spec.host",
]);

const amounts = [
  "limits.cpu",
  "limits.ephemeral-storage",
  "limits.memory",
  "requests.cpu",
  "requests.ephemeral-storage",
  "requests.memory",
];
const hugePages = /^(?:limits|requests)\.hugepages-/;
const cpuUnits = ["1m", "1"];
const byteUnits = ["1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"];

type VariableRules = Pick<PodRules, "hostIps" | "relaxedVariables">;

const nameProblems = ({ relaxedVariables }: VariableRules) =>
  relaxedVariables ? relaxedEnvironmentNameProblems : environmentNameProblems;

/** Returns the errors of environment variables, which may refer to all addresses of the node if permitted. */
export function envErrors(
  variables: readonly EnvVar[] | undefined,
  path: string,
  rules: VariableRules,
): FieldError[] {
  const fields = rules.hostIps ? laterEnvironmentFields : environmentFields;
  return (variables ?? []).flatMap((variable, position) => {
    const at = `${path}[${position}]`;
    const errors = variable.name
      ? formatErrors(variable.name, `${at}.name`, nameProblems(rules))
      : [required(`${at}.name`)];
    return [...errors, ...valueFromErrors(variable, `${at}.valueFrom`, fields)];
  });
}

function valueFromErrors({ value, valueFrom }: EnvVar, at: string, fields: readonly string[]): FieldError[] {
  if (!valueFrom) return [];
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef } = valueFrom;
  const errors: FieldError[] = [];
  if (fieldRef) errors.push(...fieldRefErrors(fieldRef, fields, `${at}.fieldRef`));
  if (resourceFieldRef)
    errors.push(...resourceFieldErrors(resourceFieldRef, false, `${at}.resourceFieldRef`));
  if (configMapKeyRef) errors.push(...keyRefErrors(configMapKeyRef, `${at}.configMapKeyRef`));
  if (secretKeyRef) errors.push(...keyRefErrors(secretKeyRef, `${at}.secretKeyRef`));
  const count = [fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef].filter((each) => each).length;
  if (count === 0)
    errors.push(
      invalidValue(
        at,
        "",
        "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`",
      ),
    );
  else if (value) errors.push(invalidValue(at, "", "may not be specified when `value` is not empty"));
  else if (count > 1)
    errors.push(invalidValue(at, "", "may not have more than one field specified at a time"));
  return errors;
}

export function fieldRefErrors(
  { apiVersion, fieldPath }: ObjectFieldSelector,
  allowed: readonly string[],
  at: string,
): FieldError[] {
  if (!apiVersion) return [required(`${at}.apiVersion`)];
  if (!fieldPath) return [required(`${at}.fieldPath`)];
  const refused = (why: string): FieldError[] => [
    invalidValue(`${at}.fieldPath`, fieldPath, `error converting fieldPath: ${why}`),
  ];
  if (apiVersion !== "v1") return refused(`unsupported pod version: ${apiVersion}`);
  const start = fieldPath.indexOf("['");
  if (start > 0 && fieldPath.endsWith("']") && start + 4 <= fieldPath.length) {
    const whole = fieldPath.slice(0, start);
    const key = fieldPath.slice(start + 2, -2);
    if (whole === "metadata.annotations") return qualifiedNameErrors(key.toLowerCase(), at);
    if (whole === "metadata.labels") return qualifiedNameErrors(key, at);
    return refused(`field label does not support subscript: ${fieldPath}`);
  }
  if (!anyField.has(fieldPath)) return refused(`field label not supported: ${fieldPath}`);
  const known = fieldPath === "spec.host" ? "spec.nodeName" : fieldPath;
  return allowed.includes(known) ? [] : [notSupported(`${at}.fieldPath`, known, allowed)];
}

/**
 * Validates a resource field reference. In a volume it must name the container; in an environment it refers
 * to its own container.
 */
export function resourceFieldErrors(
  { containerName, resource, divisor }: ResourceFieldSelector,
  inVolume: boolean,
  at: string,
): FieldError[] {
  const errors: FieldError[] = [];
  if (inVolume && !containerName) errors.push(required(`${at}.containerName`));
  else if (!resource) errors.push(required(`${at}.resource`));
  else if (!amounts.includes(resource) && !hugePages.test(resource))
    errors.push(notSupported(`${at}.resource`, resource, amounts));
  const unit = canonicalQuantity(divisor || "0");
  const units =
    unit === "0"
      ? undefined
      : /^(?:limits|requests)\.cpu$/.test(resource)
        ? cpuUnits
        : amounts.includes(resource) || hugePages.test(resource)
          ? byteUnits
          : undefined;
  if (units && !units.includes(unit))
    errors.push(
      invalidValue(
        `${at}.divisor`,
        resource,
        `only divisor's values ${units.join(", ")} are supported with this resource`,
      ),
    );
  return errors;
}

const keyRefErrors = ({ name, key }: ConfigMapKeySelector | SecretKeySelector, at: string): FieldError[] => [
  ...formatErrors(name ?? "", `${at}.name`, dns1123SubdomainProblems),
  ...(key ? formatErrors(key, `${at}.key`, configKeyProblems) : [required(`${at}.key`)]),
];

export function envFromErrors(
  sources: readonly EnvFromSource[] | undefined,
  path: string,
  rules: VariableRules,
): FieldError[] {
  return (sources ?? []).flatMap(({ prefix, configMapRef, secretRef }, position) => {
    const at = `${path}[${position}]`;
    const errors = prefix ? formatErrors(prefix, `${at}.prefix`, nameProblems(rules)) : [];
    if (configMapRef) errors.push(...sourceNameErrors(configMapRef.name, `${at}.configMapRef.name`));
    if (secretRef) errors.push(...sourceNameErrors(secretRef.name, `${at}.secretRef.name`));
    if (!configMapRef && !secretRef)
      errors.push(invalidValue(path, "", "must specify one of: `configMapRef` or `secretRef`"));
    if (configMapRef && secretRef)
      errors.push(invalidValue(path, "", "may not have more than one field specified at a time"));
    return errors;
  });
}

// For compatibility, a trailing dash is accepted.
const sourceNameErrors = (name: string | undefined, field: string): FieldError[] =>
  name
    ? formatErrors(name, field, (text) =>
        dns1123SubdomainProblems(text.endsWith("-") && text.length > 1 ? `${text.slice(0, -2)}a` : text),
      )
    : [required(field)];
