// Aggregated discovery: all resources of a server in one document. Both versions have the same fields.
import { type TypeOf, embedded, list, optional, required, string } from "#schema";
import { mapList, setList } from "../extras.ts";
import { GroupVersionKind } from "../meta/group-version.ts";
import { ObjectMeta } from "../meta/object-meta.ts";
import { apidiscovery } from "../packages.ts";

function declare(version: string) {
  const { message, kind } = apidiscovery(version);

  const APISubresourceDiscovery = message(
    "APISubresourceDiscovery",
    "Discovery information of a subresource.",
    {
      subresource: required(1, string, "Name of the subresource."),
      responseKind: optional(
        2,
        GroupVersionKind,
        "Kind of the returned objects; empty if the subresource returns none.",
      ),
      acceptedTypes: optional(
        3,
        list(GroupVersionKind),
        "Kinds of the objects that the subresource accepts.",
        mapList("group", "version", "kind"),
      ),
      verbs: required(
        4,
        list(string),
        "Supported verbs, such as get, list, watch, create, update, patch and delete.",
        setList,
      ),
    },
  );

  const APIResourceDiscovery = message("APIResourceDiscovery", "Discovery information of a resource.", {
    resource: required(1, string, "Plural name of the resource as used in paths."),
    responseKind: optional(2, GroupVersionKind, "Kind of the returned objects."),
    scope: required(3, string, "Scope of the resource: Cluster or Namespaced."),
    singularResource: required(4, string, "Singular name of the resource."),
    verbs: required(
      5,
      list(string),
      "Supported verbs, such as get, list, watch, create, update, patch and delete.",
      setList,
    ),
    shortNames: optional(6, list(string), "Suggested short names of the resource.", setList),
    categories: optional(7, list(string), "Categories that the resource belongs to, such as all.", setList),
    subresources: optional(
      8,
      list(APISubresourceDiscovery),
      "Subresources of the resource.",
      mapList("subresource"),
    ),
  });

  const APIVersionDiscovery = message("APIVersionDiscovery", "Discovery information of an API version.", {
    version: required(1, string, "Name of the version within its group."),
    resources: optional(2, list(APIResourceDiscovery), "Resources of the version.", mapList("resource")),
    freshness: optional(
      3,
      string,
      "Freshness of the information: Current, or Stale if the extension server is unreachable.",
    ),
  });

  const APIGroupDiscovery = kind("APIGroupDiscovery", "Discovery information of an API group.", {
    metadata: embedded(1, ObjectMeta, "Standard object metadata."),
    versions: optional(
      2,
      list(APIVersionDiscovery),
      "Versions of the group, in order of preference.",
      mapList("version"),
    ),
  });

  return APIGroupDiscovery;
}

export const APIGroupDiscovery = declare("v2");
export type APIGroupDiscovery = TypeOf<typeof APIGroupDiscovery>;

/** The version that older clients request. */
export const APIGroupDiscoveryV2beta1 = declare("v2beta1");
