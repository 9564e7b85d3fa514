// The built-in API versions that --runtime-config can refer to.

import { type Dialect, groupName, timelineGroup } from "#dialect";
import { hint } from "#options";

/** Versions of later releases, with the minor release that has them first. */
const laterVersions: readonly (readonly [group: string, version: string, since: number])[] = [
  ["flowcontrol.apiserver*", "v1", 29],
];

/**
 * Groups without the product's suffix (`*` marks the branded ones) and the versions known to kube-apiserver
 * 1.27, served or not.
 */
const versions: Readonly<Record<string, string>> = {
  "": "v1",
  "admission*": "v1 v1beta1",
  "admissionregistration*": "v1 v1beta1 v1alpha1",
  "apiextensions*": "v1 v1beta1",
  "apiregistration*": "v1 v1beta1",
  apps: "v1 v1beta2 v1beta1",
  "authentication*": "v1 v1beta1 v1alpha1",
  "authorization*": "v1 v1beta1",
  autoscaling: "v1 v2 v2beta2 v2beta1",
  batch: "v1 v1beta1",
  "certificates*": "v1 v1beta1 v1alpha1",
  "coordination*": "v1 v1beta1",
  "discovery*": "v1 v1beta1",
  "events*": "v1 v1beta1",
  extensions: "v1beta1",
  "flowcontrol.apiserver*": "v1beta3 v1beta2 v1beta1 v1alpha1",
  "imagepolicy*": "v1alpha1",
  "internal.apiserver*": "v1alpha1",
  "networking*": "v1 v1beta1 v1alpha1",
  "node*": "v1 v1beta1 v1alpha1",
  policy: "v1 v1beta1",
  "rbac.authorization*": "v1 v1beta1 v1alpha1",
  "resource*": "v1alpha2",
  "scheduling*": "v1 v1beta1 v1alpha1",
  "storage*": "v1 v1beta1 v1alpha1",
};
const wholeApis = ["api/all", "api/ga", "api/beta", "api/alpha"];
/** A deprecated key that has no effect, as in kube-apiserver, whatever its value. */
const legacyKey = "api/legacy";
/** True values of strconv.ParseBool, and the empty value of a key without value. */
const trueValues = new Set(["", "1", "t", "T", "TRUE", "true", "True"]);
const falseValues = new Set(["0", "f", "F", "FALSE", "false", "False"]);

/** Returns descriptions of the errors in the settings. */
export function runtimeConfigProblems(
  given: Readonly<Record<string, string>>,
  dialect: Dialect,
  release: number,
): string[] {
  const known = knownVersions(dialect, release);
  const groups = new Set(
    [...known].map((version) => (version.includes("/") ? version.slice(0, version.indexOf("/")) : "")),
  );
  if (given["api/all"] === "false" && Object.keys(given).length === 1)
    return ["api/all=false alone leaves nothing to serve"];
  return Object.entries(given).flatMap(([key, value]) => {
    if (key === legacyKey) return [];
    if (wholeApis.includes(key))
      return value === "true" || value === "false"
        ? []
        : [`${key} must be true or false, not ${JSON.stringify(value)}`];
    const wrong: string[] = [];
    if (!trueValues.has(value) && !falseValues.has(value))
      wrong.push(`${key} must be true or false, not ${JSON.stringify(value)}`);
    const [group, version, resource] = splitKey(key);
    if (!groups.has(group))
      wrong.push(`${JSON.stringify(key)} names no built-in API group${hint(key, [...known, ...wholeApis])}`);
    else if (!known.has(version))
      wrong.push(`${JSON.stringify(key)} names no version of that group${hint(key, known)}`);
    else if (resource !== resource.toLowerCase())
      wrong.push(`${JSON.stringify(key)}: a resource is written in lower case and in the plural`);
    return wrong;
  });
}

/** Reports whether a setting enables its API; a key without value does. */
export const switchedOn = (value: string): boolean => trueValues.has(value);

/**
 * Normalizes the names of the core group's versions: `v1`, `/v1` and, as in kube-apiserver's own tests,
 * `api/v1`.
 */
export const canonicalKey = (key: string): string => key.replace(/^(?:api)?\/(?=v[0-9])/, "");

/** Splits `v1`, `v1/pods`, `apps/v1`, `apps/v1/deployments` into group, group version and resource. */
function splitKey(key: string): [group: string, version: string, resource: string] {
  const [first = "", second = "", third = ""] = canonicalKey(key).split("/");
  return /^v[0-9]/.test(first) ? ["", first, second] : [first, `${first}/${second}`, third];
}

/** The versions, such as `apps/v1beta1` or `v1`, that the settings enable by name. */
export const versionsSwitchedOn = (given: Readonly<Record<string, string>>): string[] =>
  Object.entries(given).flatMap(([key, value]) => {
    const [, version, resource] = splitKey(key);
    return wholeApis.includes(key) || key === legacyKey || resource !== "" || !switchedOn(value)
      ? []
      : [version];
  });

function knownVersions(dialect: Dialect, release: number): Set<string> {
  const known = new Set<string>([`${timelineGroup}/v1`]);
  const later = laterVersions.filter(([, , since]) => release >= since);
  const all = [...Object.entries(versions), ...later.map(([name, version]) => [name, version] as const)];
  for (const [name, list] of all) {
    const branded = name.endsWith("*");
    const group = groupName(dialect, { group: branded ? name.slice(0, -1) : name, branded });
    for (const version of list.split(" ")) known.add(group ? `${group}/${version}` : version);
  }
  return known;
}
