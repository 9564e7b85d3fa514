// Discovery documents: the groups, versions and resources of a server.
import { type TypeOf, bool, embedded, list, optional, required, string } from "#schema";
import { meta } from "../packages.ts";

const { message, kind, named } = meta;

export const ServerAddressByClientCIDR = message(
  "ServerAddressByClientCIDR",
  "The address that clients of one network should use.",
  {
    clientCIDR: required(1, string, "The network of the client."),
    serverAddress: required(2, string, "Host or address, with port, to connect to."),
  },
);
export type ServerAddressByClientCIDR = TypeOf<typeof ServerAddressByClientCIDR>;

export const APIVersions = kind("APIVersions", "The versions of the core group.", {
  versions: required(1, list(string), "Versions served."),
  serverAddressByClientCIDRs: required(
    2,
    list(ServerAddressByClientCIDR),
    "Which address suits which client.",
  ),
});
export type APIVersions = TypeOf<typeof APIVersions>;

export const GroupVersionForDiscovery = message("GroupVersionForDiscovery", "One version of a group.", {
  groupVersion: required(1, string, "Group and version as in apiVersion."),
  version: required(2, string, "The version alone."),
});
export type GroupVersionForDiscovery = TypeOf<typeof GroupVersionForDiscovery>;

export const APIGroup = kind("APIGroup", "A group and its versions.", {
  name: required(1, string, "Name of the group."),
  versions: required(2, list(GroupVersionForDiscovery), "Versions served."),
  preferredVersion: embedded(3, GroupVersionForDiscovery, "The version a client should choose."),
  serverAddressByClientCIDRs: optional(
    4,
    list(ServerAddressByClientCIDR),
    "Which address suits which client.",
  ),
});
export type APIGroup = TypeOf<typeof APIGroup>;

export const APIGroupList = kind("APIGroupList", "All groups but the core one.", {
  groups: required(1, list(APIGroup), "The groups."),
});
export type APIGroupList = TypeOf<typeof APIGroupList>;

export const APIResource = message("APIResource", "One resource or subresource of a version.", {
  name: required(1, string, "Plural name in paths; a subresource follows a slash."),
  singularName: required(6, string, "Name of one."),
  namespaced: required(2, bool, "Whether its objects live in namespaces."),
  group: optional(8, string, "Group of the kind where it is not that of the list."),
  version: optional(9, string, "Version of the kind where it is not that of the list."),
  kind: required(3, string, "Kind of the objects it takes and gives."),
  verbs: required(4, named("Verbs", list(string)), "What can be done with it.", { wrapped: true }),
  shortNames: optional(5, list(string), "Abbreviations that tools accept."),
  categories: optional(7, list(string), "Families it belongs to, such as all."),
  storageVersionHash: optional(10, string, "Changes when the stored form changes."),
});
export type APIResource = TypeOf<typeof APIResource>;

export const APIResourceList = kind("APIResourceList", "The resources of one version.", {
  groupVersion: required(1, string, "Group and version that are listed."),
  resources: required(2, list(APIResource), "The resources and subresources."),
});
export type APIResourceList = TypeOf<typeof APIResourceList>;
