// Determines which built-in APIs are served: stable versions, and others enabled by --runtime-config. The
// most specific setting wins.
//
//   api/all  <  api/ga, api/beta, api/alpha  <  group/version  <  group/version/resource
import { type Dialect, groupName } from "#dialect";
import { canonicalKey, switchedOn } from "./runtime-config.ts";

export type Serves = (group: string, version: string, resource: string) => boolean;

/** Beta versions served by default, as there is no stable version yet. */
const defaultBetaVersions: readonly { readonly group: string; readonly versions: readonly string[] }[] = [
  { group: "flowcontrol.apiserver", versions: ["v1beta2", "v1beta3"] },
];

export function servedApis(runtimeConfig: Readonly<Record<string, string>>, dialect: Dialect): Serves {
  const switches = new Map(
    Object.entries(runtimeConfig).map(([key, value]) => [canonicalKey(key), switchedOn(value)]),
  );
  const setting = (key: string): boolean | undefined => switches.get(key);
  const isDefault = (group: string, version: string): boolean =>
    !/alpha|beta/.test(version) ||
    defaultBetaVersions.some(
      (item) =>
        group === groupName(dialect, { group: item.group, branded: true }) && item.versions.includes(version),
    );
  return (group, version, resource) => {
    const name = group === "" ? version : `${group}/${version}`;
    const stage = version.includes("alpha") ? "api/alpha" : version.includes("beta") ? "api/beta" : "api/ga";
    return (
      setting(`${name}/${resource}`) ??
      setting(name) ??
      setting(stage) ??
      setting("api/all") ??
      isDefault(group, version)
    );
  };
}
