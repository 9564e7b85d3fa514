// Fully qualified names of kinds and resources.
import { type TypeOf, required, string } from "#schema";
import { meta } from "../packages.ts";

const { message } = meta;

export const GroupKind = message("GroupKind", "A kind without its version.", {
  group: required(1, string, "API group; empty for the core group."),
  kind: required(2, string, "Name of the kind."),
});
export type GroupKind = TypeOf<typeof GroupKind>;

export const GroupVersionKind = message("GroupVersionKind", "A kind with group and version.", {
  group: required(1, string, "API group; empty for the core group."),
  version: required(2, string, "Version within the group."),
  kind: required(3, string, "Name of the kind."),
});
export type GroupVersionKind = TypeOf<typeof GroupVersionKind>;

export const GroupResource = message("GroupResource", "A resource without its version.", {
  group: required(1, string, "API group; empty for the core group."),
  resource: required(2, string, "Plural name of the resource as used in paths."),
});
export type GroupResource = TypeOf<typeof GroupResource>;

export const GroupVersionResource = message("GroupVersionResource", "A resource with group and version.", {
  group: required(1, string, "API group; empty for the core group."),
  version: required(2, string, "Version within the group."),
  resource: required(3, string, "Plural name of the resource as used in paths."),
});
export type GroupVersionResource = TypeOf<typeof GroupVersionResource>;

export const GroupVersion = message("GroupVersion", "An API group and version.", {
  group: required(1, string, "API group; empty for the core group."),
  version: required(2, string, "Version within the group."),
});
export type GroupVersion = TypeOf<typeof GroupVersion>;
