// Group versions that the release knows but does not serve, any longer or yet. Deletion options and watch
// events are published under all of them, as in kube-apiserver.
import { type Dialect, type GroupVersionName, groupName } from "#dialect";

const plain: Readonly<Record<string, readonly string[]>> = {
  apps: ["v1beta1", "v1beta2"],
  autoscaling: ["v2beta1", "v2beta2"],
  batch: ["v1beta1"],
  extensions: ["v1beta1"],
  policy: ["v1beta1"],
};

const branded: Readonly<Record<string, readonly string[]>> = {
  admission: ["v1", "v1beta1"],
  admissionregistration: ["v1alpha1", "v1beta1"],
  apiextensions: ["v1beta1"],
  apiregistration: ["v1beta1"],
  authentication: ["v1alpha1", "v1beta1"],
  authorization: ["v1beta1"],
  certificates: ["v1alpha1", "v1beta1"],
  coordination: ["v1beta1"],
  discovery: ["v1beta1"],
  events: ["v1beta1"],
  "flowcontrol.apiserver": ["v1alpha1", "v1beta1"],
  imagepolicy: ["v1alpha1"],
  "internal.apiserver": ["v1alpha1"],
  networking: ["v1alpha1", "v1beta1"],
  node: ["v1alpha1", "v1beta1"],
  "rbac.authorization": ["v1alpha1", "v1beta1"],
  resource: ["v1alpha2"],
  scheduling: ["v1alpha1", "v1beta1"],
  storage: ["v1alpha1", "v1beta1"],
};

const versionsOf = (
  groups: Readonly<Record<string, readonly string[]>>,
  isBranded: boolean,
): GroupVersionName[] =>
  Object.entries(groups).flatMap(([group, versions]) =>
    versions.map((version) => ({ group, branded: isBranded, version })),
  );

const unserved: readonly GroupVersionName[] = [...versionsOf(plain, false), ...versionsOf(branded, true)];

/**
 * Returns the served and the only known versions without duplicates: a group may be given in full or as
 * branded.
 */
export function knownVersions(served: readonly GroupVersionName[], dialect: Dialect): GroupVersionName[] {
  const published = (name: GroupVersionName): string => `${groupName(dialect, name)}/${name.version}`;
  const publishedNames = new Set(served.map(published));
  return [...served, ...unserved.filter((name) => !publishedNames.has(published(name)))];
}
