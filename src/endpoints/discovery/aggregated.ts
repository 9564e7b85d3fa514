// Aggregated discovery: all groups with their resources and subresources in one document. The older version
// only names the group and version of a kind if they differ from those of the resource.
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
      const fresh = !remote || (remote.available && (modern?.fresh ?? remote.discovered()));
      const resources = fresh ? (modern?.resources ?? resourcesOf(version, explicit)) : [];
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
  // Extension API servers report the kinds of their resources themselves.
  const isExplicit = (custom: boolean | undefined): boolean =>
    !version.remote && (explicit || custom === true);
  const kindOf = ({ kind, group, version: kindVersion, custom }: ApiResource): unknown => ({
    group: group ?? (isExplicit(custom) ? version.group : ""),
    version: kindVersion ?? (isExplicit(custom) ? version.version : ""),
    kind,
  });
  const parts = Map.groupBy(
    all.filter(({ name }) => name.includes("/")),
    ({ name }) => name.slice(0, name.indexOf("/")),
  );
  const partsOf = (resource: string): unknown[] | undefined =>
    parts.get(resource)?.map((part) => ({
      subresource: part.name.slice(resource.length + 1),
      responseKind: part.kind === "" ? noKind : kindOf(part),
      verbs: part.verbs,
    }));
  const resources = all.filter(({ name }) => !name.includes("/"));
  const last = new Map(resources.map((item) => [item.name, item]));
  const listed = resources.map((item) => {
    // Of two resources with the same name, the last one has the subresources.
    const subresources = last.get(item.name) === item ? partsOf(item.name) : undefined;
    return {
      resource: item.name,
      responseKind: kindOf(item),
      scope: scopeOf(item),
      singularResource: item.singularName,
      verbs: item.verbs,
      ...(item.shortNames && { shortNames: item.shortNames }),
      ...(item.categories && { categories: item.categories }),
      ...(subresources && { subresources }),
    };
  });
  // Subresources whose resource is not listed.
  const alone = [...parts]
    .filter(([name]) => !last.has(name))
    .map(([name, [first]]) => ({
      resource: name,
      responseKind: noKind,
      scope: scopeOf(first!),
      singularResource: "",
      verbs: null,
      subresources: partsOf(name),
    }));
  return [...listed, ...alone];
}

const noKind = { group: "", version: "", kind: "" };
const scopeOf = ({ namespaced }: ApiResource): string => (namespaced ? "Namespaced" : "Cluster");
