// Aggregated discovery: all resources of a server in one document. Both versions have the same fields.
import { type TypeOf, embedded, list, optional, required, string } from "#schema";
import { mapList, setList } from "../extras.ts";
import { GroupVersionKind } from "../meta/group-version.ts";
import { ObjectMeta } from "../meta/object-meta.ts";
import { apidiscovery } from "../packages.ts";

function declare(version: string) {
  const { message, kind } = apidiscovery(version);

  const APISubresourceDiscovery = message("APISubresourceDiscovery", "One subresource.", {
    subresource: required(1, string, "Its name."),
    responseKind: optional(2, GroupVersionKind, "Kind it gives; empty for none."),
    acceptedTypes: optional(
      3,
      list(GroupVersionKind),
      "Kinds it takes.",
      mapList("group", "version", "kind"),
    ),
    verbs: required(4, list(string), "What can be done with it.", setList),
  });

  const APIResourceDiscovery = message("APIResourceDiscovery", "One resource.", {
    resource: required(1, string, "Plural name in paths."),
    responseKind: optional(2, GroupVersionKind, "Kind it gives."),
    scope: required(3, string, "Cluster or Namespaced."),
    singularResource: required(4, string, "Name of one."),
    verbs: required(5, list(string), "What can be done with it.", setList),
    shortNames: optional(6, list(string), "Abbreviations that tools accept.", setList),
    categories: optional(7, list(string), "Families it belongs to, such as all.", setList),
    subresources: optional(8, list(APISubresourceDiscovery), "Its subresources.", mapList("subresource")),
  });

  const APIVersionDiscovery = message("APIVersionDiscovery", "One version of a group.", {
    version: required(1, string, "Name of the version."),
    resources: optional(2, list(APIResourceDiscovery), "Its resources.", mapList("resource")),
    freshness: optional(3, string, "Current, or Stale when the server behind it did not answer."),
  });

  const APIGroupDiscovery = kind("APIGroupDiscovery", "One group.", {
    metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
    versions: optional(2, list(APIVersionDiscovery), "Its versions, best first.", mapList("version")),
  });

  return APIGroupDiscovery;
}

export const APIGroupDiscovery = declare("v2");
export type APIGroupDiscovery = TypeOf<typeof APIGroupDiscovery>;

/** The version that older clients request. */
export const APIGroupDiscoveryV2beta1 = declare("v2beta1");
