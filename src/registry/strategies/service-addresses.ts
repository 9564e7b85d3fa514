// Validation of the cluster IPs of a service and of their changes.
import type { ServiceSpec } from "#api";
import { type FieldError, duplicate, invalidValue, required } from "#base";
import { ipProblems } from "#schema";
import { parseIp } from "./rules/address.ts";
import { formatErrors } from "./rules/format.ts";
import { supported } from "./rules/one-of.ts";
import { headless, isHeadless } from "./service-fields.ts";

const path = "spec.clusterIPs";

export function addressErrors(spec: ServiceSpec): FieldError[] {
  if (spec.type === "ExternalName") return [];
  const { clusterIP, clusterIPs = [], ipFamilies = [], ipFamilyPolicy } = spec;
  const errors: FieldError[] = [];
  if (clusterIP && clusterIPs.length === 0) errors.push(required(path));
  else if (clusterIP && clusterIPs[0] !== clusterIP)
    errors.push(invalidValue(path, clusterIPs, "first value must match `clusterIP`"));
  else if (!clusterIP && clusterIPs.length > 0)
    errors.push(invalidValue(path, clusterIPs, "must be empty when `clusterIP` is not specified"));
  ipFamilies.forEach((family, position) => {
    errors.push(...supported(family, `spec.ipFamilies[${position}]`, ["IPv4", "IPv6"]));
    if (ipFamilies.indexOf(family) < position) errors.push(duplicate(`spec.ipFamilies[${position}]`, family));
  });
  if (ipFamilyPolicy !== undefined)
    errors.push(
      ...supported(ipFamilyPolicy, "spec.ipFamilyPolicy", [
        "PreferDualStack",
        "RequireDualStack",
        "SingleStack",
      ]),
    );
  const malformed = formErrors(clusterIPs);
  errors.push(...malformed);
  if (clusterIPs.length > 2) errors.push(invalidValue(path, clusterIPs, "may only hold up to 2 values"));
  if (malformed.length > 0) return errors;
  const families = clusterIPs.map((ip) => (parseIp(ip)?.family === 6 ? "IPv6" : "IPv4"));
  if (clusterIPs.length > 1 && new Set(families).size < 2)
    errors.push(invalidValue(path, clusterIPs, "may specify no more than one IP for each IP family"));
  if (isHeadless(spec)) return errors;
  clusterIPs.forEach((ip, position) => {
    const wanted = ipFamilies[position];
    const known = wanted === "IPv4" || wanted === "IPv6";
    if (known && wanted !== families[position])
      errors.push(
        invalidValue(
          `${path}[${position}]`,
          ip,
          `expected an ${wanted} value as indicated by \`ipFamilies[${position}]\``,
        ),
      );
  });
  return errors;
}

function formErrors(clusterIPs: readonly string[]): FieldError[] {
  return clusterIPs.flatMap((ip, position) => {
    if (position > 0 || ip !== headless) return formatErrors(ip, `${path}[${position}]`, ipProblems);
    return clusterIPs.length > 1
      ? [invalidValue(path, clusterIPs, "'None' must be the first and only value")]
      : [];
  });
}

const fixed = "may not change once set";

/** Validates that the primary address and family are unchanged; a secondary one may be added or removed. */
export function addressChangeErrors(spec: ServiceSpec, old: ServiceSpec): FieldError[] {
  if (spec.type === "ExternalName" || old.type === "ExternalName") return [];
  const [wasHeadless, nowHeadless] = [isHeadless(old), isHeadless(spec)];
  if (wasHeadless && nowHeadless) return [];
  const errors = changeErrors("clusterIPs", "clusterIP", spec, old);
  return wasHeadless === nowHeadless
    ? [...errors, ...changeErrors("ipFamilies", "ipFamily", spec, old)]
    : errors;
}

function changeErrors(
  key: "clusterIPs" | "ipFamilies",
  word: string,
  spec: ServiceSpec,
  old: ServiceSpec,
): FieldError[] {
  const { ipFamilyPolicy, clusterIPs = [], [key]: now = [] } = spec;
  const { [key]: before = [] } = old;
  const first = `spec.${key}[0]`;
  if (now.length === before.length) {
    return before.flatMap((item, position) =>
      item === now[position]
        ? []
        : [invalidValue(key === "clusterIPs" ? `spec.${key}[${position}]` : first, now, fixed)],
    );
  }
  const errors: FieldError[] = [];
  if (now.length === 0) errors.push(invalidValue(first, now, `primary ${word} can not be unset`));
  // For families, too, kube-apiserver shows the addresses here.
  else if (before.length > 0 && now[0] !== before[0]) errors.push(invalidValue(first, clusterIPs, fixed));
  if (before.length > now.length && now.length === 1 && ipFamilyPolicy !== "SingleStack") {
    errors.push(
      invalidValue(
        "spec.ipFamilyPolicy",
        ipFamilyPolicy,
        `must be set to 'SingleStack' when releasing the secondary ${word}`,
      ),
    );
  }
  return errors;
}
