// IP families of a service: determined from the families of the cluster and those requested.
import type { ServiceSpec } from "#api";
import { type FieldError, invalidValue } from "#base";
import { parseIp } from "./rules/address.ts";
import { addressErrors } from "./service-addresses.ts";
import { headless } from "./service-fields.ts";
import { same } from "./rules/unchanged.ts";

export type Family = "IPv4" | "IPv6";

const other = (family: string): Family => (family === "IPv4" ? "IPv6" : "IPv4");
const familyOf = (ip: string): Family => (parseIp(ip)?.family === 6 ? "IPv6" : "IPv4");

/**
 * Defaults the families and their policy. Returns errors for families that are unavailable; validation then
 * stops.
 */
export function resolveFamilies(
  spec: ServiceSpec,
  old: ServiceSpec | undefined,
  available: readonly [Family, ...Family[]],
): FieldError[] {
  if (spec.type === "ExternalName") return [];
  const free = spec.clusterIP === headless && Object.keys(spec.selector ?? {}).length === 0;
  spec.ipFamilyPolicy ??= old?.ipFamilyPolicy ?? (free ? "RequireDualStack" : "SingleStack");
  const malformed = addressErrors(spec);
  if (malformed.length > 0) return malformed;
  const single = spec.ipFamilyPolicy === "SingleStack";
  const requestErrors = [...stackErrors(spec, old, single), ...matchFamilies(spec, available)];
  if (requestErrors.length > 0) return requestErrors;
  if (free) {
    if (!spec.ipFamilies?.length) spec.ipFamilies = [available[0]];
    if (spec.ipFamilies.length < 2 && !single)
      spec.ipFamilies = [spec.ipFamilies[0]!, other(spec.ipFamilies[0]!)];
    return [];
  }
  const missing: FieldError[] = [];
  if (spec.ipFamilyPolicy === "RequireDualStack" && available.length < 2)
    missing.push(
      invalidValue(
        "spec.ipFamilyPolicy",
        spec.ipFamilyPolicy,
        "this cluster is not configured for dual-stack services",
      ),
    );
  spec.ipFamilies?.forEach((family, position) => {
    if (!(available as readonly string[]).includes(family))
      missing.push(invalidValue(`spec.ipFamilies[${position}]`, family, "not configured on this cluster"));
  });
  if (missing.length > 0) return missing;
  if (!spec.ipFamilies?.length) spec.ipFamilies = [available[0]];
  if (!single && spec.ipFamilies.length === 1 && available.length === 2)
    spec.ipFamilies = [spec.ipFamilies[0]!, other(spec.ipFamilies[0]!)];
  return [];
}

/** Derives the families of services stored by releases without this field from their addresses. */
export function restoreFamilies(spec: ServiceSpec, primary: Family): void {
  if (spec.type === "ExternalName" || spec.ipFamilies?.length) return;
  if (spec.clusterIP === headless) {
    const free = Object.keys(spec.selector ?? {}).length === 0;
    spec.ipFamilies = free ? [primary, other(primary)] : [primary];
  } else {
    spec.ipFamilies = (spec.clusterIPs ?? []).map(familyOf);
    if (spec.ipFamilies.length === 0) delete spec.ipFamilies;
  }
  const count = spec.ipFamilies?.length ?? 0;
  if (count > 0) spec.ipFamilyPolicy = count > 1 ? "RequireDualStack" : "SingleStack";
}

/**
 * Validates that a secondary address or family is removed only with SingleStack, and added only without it.
 */
function stackErrors(spec: ServiceSpec, old: ServiceSpec | undefined, single: boolean): FieldError[] {
  const wrong = (detail: string): FieldError =>
    invalidValue("spec.ipFamilyPolicy", spec.ipFamilyPolicy, detail);
  const errors: FieldError[] = [];
  const pairs = [
    ["clusterIPs", "cluster IP", "cluster IPs"],
    ["ipFamilies", "IP family", "IP families"],
  ] as const;
  for (const [key, word, words] of pairs) {
    const [now, before] = [spec[key] ?? [], old?.[key] ?? []];
    if (old && single && same(now, before) && now.length > 1) spec[key] = now.slice(0, 1);
    if (old && !single && now.length > 0 && now.length < before.length)
      errors.push(wrong(`must be 'SingleStack' to release the secondary ${word}`));
    if (single && spec[key]?.length === 2)
      errors.push(
        wrong(`must be 'RequireDualStack' or 'PreferDualStack' when multiple ${words} are specified`),
      );
  }
  return errors;
}

/** Adds the family of each requested address. */
function matchFamilies(spec: ServiceSpec, available: readonly Family[]): FieldError[] {
  const errors: FieldError[] = [];
  for (const [position, ip] of (spec.clusterIPs ?? []).entries()) {
    if (ip === headless) break;
    if (position < (spec.ipFamilies?.length ?? 0)) continue;
    const family = familyOf(ip);
    if (available.includes(family)) spec.ipFamilies = [...(spec.ipFamilies ?? []), family];
    else
      errors.push(
        invalidValue(
          `spec.clusterIPs[${position}]`,
          spec.clusterIPs,
          `${family} is not configured on this cluster`,
        ),
      );
  }
  return errors;
}
