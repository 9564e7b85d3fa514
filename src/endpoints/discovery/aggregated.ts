// Aggregated discovery: every group with its resources and their subresources in one document. The older form
// names the group and version of a kind only where they are not those of the resource.
import type { GroupVersion } from "../catalog.ts";
import { type ApiResource, apiResources } from "./resources.ts";

export function aggregatedGroups(
  groups: readonly { readonly name: string; readonly versions: readonly GroupVersion[] }[],
  explicit: boolean,
): unknown[] {
  return groups.map(({ name, versions }) => ({
    metadata: { ...(name && { name }), creationTimestamp: null },
    versions: versions.map((version) => {
      const { remote } = version;
      const modern = remote?.description?.()?.discovered;
      const resources = modern ?? resourcesOf(version, explicit);
      const fresh = !remote || (remote.available && (modern !== undefined || remote.discovered()));
      return {
        version: version.version,
        ...(resources.length > 0 && { resources }),
        freshness: fresh ? "Current" : "Stale",
      };
    }),
  }));
}

function resourcesOf(version: GroupVersion, explicit: boolean): unknown[] {
  const all = apiResources(version);
  // Another server says itself of what kind its resources are.
  const told = (custom: boolean | undefined): boolean => !version.remote && (explicit || custom === true);
  const kindOf = ({ kind, group, version: kindVersion, custom }: ApiResource): unknown => ({
    group: group ?? (told(custom) ? version.group : ""),
    version: kindVersion ?? (told(custom) ? version.version : ""),
    kind,
  });
  const parts = (resource: string): unknown[] =>
    all
      .filter(({ name }) => name.startsWith(`${resource}/`))
      .map((part) => ({
        subresource: part.name.slice(resource.length + 1),
        responseKind: kindOf(part),
        verbs: part.verbs,
      }));
  return all
    .filter(({ name }) => !name.includes("/"))
    .map((item) => {
      const subresources = parts(item.name);
      return {
        resource: item.name,
        responseKind: kindOf(item),
        scope: item.namespaced ? "Namespaced" : "Cluster",
        singularResource: item.singularName,
        verbs: item.verbs,
        ...(item.shortNames && { shortNames: item.shortNames }),
        ...(item.categories && { categories: item.categories }),
        ...(subresources.length > 0 && { subresources }),
      };
    });
}
