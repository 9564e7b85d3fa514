// IP addresses in use, each represented by an object.
import { type TypeOf, embedded, optional, string } from "#schema";
import { ObjectMeta } from "../meta/object-meta.ts";
import { UID } from "../named-types.ts";
import { networkingV1alpha1 } from "../packages.ts";

const { message, kind } = networkingV1alpha1;

export const ParentReference = message("ParentReference", "The object that has an address.", {
  group: optional(1, string, "Its API group."),
  resource: optional(2, string, "Its resource."),
  namespace: optional(3, string, "Its namespace."),
  name: optional(4, string, "Its name."),
  uid: optional(5, UID, "Its identity."),
});
export type ParentReference = TypeOf<typeof ParentReference>;

export const IPAddressSpec = message("IPAddressSpec", "Who has the address.", {
  parentRef: optional(1, ParentReference, "The object that has it."),
});
export type IPAddressSpec = TypeOf<typeof IPAddressSpec>;

export const IPAddress = kind("IPAddress", "One address, by its name, that an object has.", {
  metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
  spec: embedded(2, IPAddressSpec, "Who has it."),
});
export type IPAddress = TypeOf<typeof IPAddress>;
