// Discovery documents: the groups, versions and resources of a server.
import { type TypeOf, bool, embedded, list, optional, required, string } from "#schema";
import { meta } from "../packages.ts";

const { message, kind, named } = meta;

export const ServerAddressByClientCIDR = message(
  "ServerAddressByClientCIDR",
  "Server address for clients of a network.",
  {
    clientCIDR: required(1, string, "CIDR of the client addresses."),
    serverAddress: required(
      2,
      string,
      "Address of the server: a host name or IP address, with an optional port.",
    ),
  },
);
export type ServerAddressByClientCIDR = TypeOf<typeof ServerAddressByClientCIDR>;

export const APIVersions = kind("APIVersions", "Versions of the core API group.", {
  versions: required(1, list(string), "Supported versions."),
  serverAddressByClientCIDRs: required(
    2,
    list(ServerAddressByClientCIDR),
    "Server addresses by client CIDR.",
  ),
});
export type APIVersions = TypeOf<typeof APIVersions>;

export const GroupVersionForDiscovery = message("GroupVersionForDiscovery", "A version of an API group.", {
  groupVersion: required(1, string, "API group and version, as in the apiVersion of objects."),
  version: required(2, string, "Version without the group."),
});
export type GroupVersionForDiscovery = TypeOf<typeof GroupVersionForDiscovery>;

export const APIGroup = kind("APIGroup", "An API group and its supported versions.", {
  name: required(1, string, "Name of the API group."),
  versions: required(2, list(GroupVersionForDiscovery), "Supported versions."),
  preferredVersion: embedded(3, GroupVersionForDiscovery, "Version that the server prefers."),
  serverAddressByClientCIDRs: optional(
    4,
    list(ServerAddressByClientCIDR),
    "Server addresses by client CIDR.",
  ),
});
export type APIGroup = TypeOf<typeof APIGroup>;

export const APIGroupList = kind("APIGroupList", "API groups of the server, without the core group.", {
  groups: required(1, list(APIGroup), "List of API groups."),
});
export type APIGroupList = TypeOf<typeof APIGroupList>;

export const APIResource = message("APIResource", "A resource or subresource of an API group version.", {
  name: required(
    1,
    string,
    "Plural name of the resource as used in paths; that of a subresource follows a slash.",
  ),
  singularName: required(6, string, "Singular name of the resource."),
  namespaced: required(2, bool, "Whether the resource is namespaced."),
  group: optional(8, string, "Preferred group of the resource; if empty, the group of the list."),
  version: optional(9, string, "Preferred version of the resource; if empty, the version of the list."),
  kind: required(3, string, "Kind of the objects of the resource."),
  verbs: required(
    4,
    named("Verbs", list(string)),
    "Supported verbs, such as get, list, watch, create, update, patch and delete.",
    { wrapped: true },
  ),
  shortNames: optional(5, list(string), "Suggested short names of the resource."),
  categories: optional(7, list(string), "Categories that the resource belongs to, such as all."),
  storageVersionHash: optional(
    10,
    string,
    "Hash of the version in which objects are stored; should be treated as opaque.",
  ),
});
export type APIResource = TypeOf<typeof APIResource>;

export const APIResourceList = kind("APIResourceList", "Resources of an API group version.", {
  groupVersion: required(1, string, "API group and version of the resources."),
  resources: required(2, list(APIResource), "List of resources and subresources."),
});
export type APIResourceList = TypeOf<typeof APIResourceList>;
