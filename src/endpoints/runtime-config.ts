// Which built-in APIs exist, for --runtime-config.

import { type Dialect, groupName } from "#dialect";
import { hint } from "#options";

/** Group without the product's suffix (`*` marks the branded ones) and the versions it is known in. */
const versions: Readonly<Record<string, readonly string[]>> = {
  "": ["v1"],
  "admissionregistration*": ["v1", "v1beta1", "v1alpha1"],
  "apiextensions*": ["v1"],
  "apiregistration*": ["v1"],
  apps: ["v1"],
  "authentication*": ["v1", "v1beta1", "v1alpha1"],
  "authorization*": ["v1"],
  autoscaling: ["v1", "v2"],
  batch: ["v1"],
  "certificates*": ["v1", "v1alpha1"],
  "coordination*": ["v1"],
  "discovery*": ["v1"],
  "events*": ["v1"],
  "flowcontrol.apiserver*": ["v1beta3", "v1beta2"],
  "internal.apiserver*": ["v1alpha1"],
  "networking*": ["v1", "v1alpha1"],
  "node*": ["v1"],
  policy: ["v1"],
  "rbac.authorization*": ["v1"],
  "resource*": ["v1alpha2"],
  "scheduling*": ["v1"],
  "storage*": ["v1", "v1beta1", "v1alpha1"],
};
const wholeApis = ["api/all", "api/ga", "api/beta", "api/alpha"];
const truths: Readonly<Record<string, boolean>> = {
  "": true,
  "1": true,
  t: true,
  true: true,
  "0": false,
  f: false,
  false: false,
};

/** Sentences on what is wrong with the pairs; none when all is well. */
export function runtimeConfigProblems(given: Readonly<Record<string, string>>, dialect: Dialect): string[] {
  const known = knownVersions(dialect);
  const groups = new Set(
    [...known].map((version) => (version.includes("/") ? version.slice(0, version.indexOf("/")) : "")),
  );
  return Object.entries(given).flatMap(([key, value]) => {
    const wrong: string[] = [];
    if (!Object.hasOwn(truths, value.toLowerCase()))
      wrong.push(`${key} must be true or false, not ${JSON.stringify(value)}`);
    const [group, version] = splitKey(key);
    if (wholeApis.includes(key)) return wrong;
    if (!groups.has(group))
      wrong.push(`${JSON.stringify(key)} names no built-in API group${hint(key, [...known, ...wholeApis])}`);
    else if (!known.has(version))
      wrong.push(`${JSON.stringify(key)} names no version of that group${hint(key, known)}`);
    return wrong;
  });
}

/** Whether a switch is on; a key given alone means yes. */
export const switchedOn = (value: string): boolean =>
  Object.hasOwn(truths, value.toLowerCase()) && truths[value.toLowerCase()]!;

/** `v1`, `v1/pods`, `apps/v1`, `apps/v1/deployments` → the group and its version as known. */
function splitKey(key: string): [group: string, version: string] {
  const [first = "", second = ""] = key.split("/");
  return /^v[0-9]/.test(first) ? ["", first] : [first, `${first}/${second}`];
}

function knownVersions(dialect: Dialect): Set<string> {
  const known = new Set<string>();
  for (const [name, list] of Object.entries(versions)) {
    const branded = name.endsWith("*");
    const group = groupName(dialect, { group: branded ? name.slice(0, -1) : name, branded });
    for (const version of list) known.add(group ? `${group}/${version}` : version);
  }
  return known;
}
