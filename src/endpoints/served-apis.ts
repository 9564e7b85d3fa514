// Determines which built-in APIs are served: stable versions, and others enabled by --runtime-config. The
// most specific setting wins.
//
//   api/all  <  api/ga, api/beta, api/alpha  <  group/version  <  group/version/resource
import { type Dialect, groupName } from "#dialect";
import { canonicalKey, switchedOn } from "./runtime-config.ts";

export type Serves = (group: string, version: string, resource: string) => boolean;

/** Beta versions served by default, as there is no stable version yet. */
const early: readonly { readonly group: string; readonly versions: readonly string[] }[] = [
  { group: "flowcontrol.apiserver", versions: ["v1beta2", "v1beta3"] },
];

export function servedApis(runtimeConfig: Readonly<Record<string, string>>, dialect: Dialect): Serves {
  const switches = new Map(
    Object.entries(runtimeConfig).map(([key, value]) => [canonicalKey(key), switchedOn(value)]),
  );
  const said = (key: string): boolean | undefined => switches.get(key);
  const ordinary = (group: string, version: string): boolean =>
    !/alpha|beta/.test(version) ||
    early.some(
      (item) =>
        group === groupName(dialect, { group: item.group, branded: true }) && item.versions.includes(version),
    );
  return (group, version, resource) => {
    const name = group === "" ? version : `${group}/${version}`;
    const stage = version.includes("alpha") ? "api/alpha" : version.includes("beta") ? "api/beta" : "api/ga";
    return (
      said(`${name}/${resource}`) ?? said(name) ?? said(stage) ?? said("api/all") ?? ordinary(group, version)
    );
  };
}
