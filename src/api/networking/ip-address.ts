// IP addresses in use, each represented by an object.
import { type TypeOf, embedded, optional, string } from "#schema";
import { ObjectMeta } from "../meta/object-meta.ts";
import { UID } from "../named-types.ts";
import { networkingV1alpha1 } from "../packages.ts";

const { message, kind } = networkingV1alpha1;

export const ParentReference = message("ParentReference", "Reference to an object.", {
  group: optional(1, string, "API group of the object."),
  resource: optional(2, string, "Resource of the object."),
  namespace: optional(3, string, "Namespace of the object."),
  name: optional(4, string, "Name of the object."),
  uid: optional(5, UID, "UID of the object."),
});
export type ParentReference = TypeOf<typeof ParentReference>;

export const IPAddressSpec = message("IPAddressSpec", "Specification of an IP address.", {
  parentRef: optional(1, ParentReference, "Object that the address is allocated to."),
});
export type IPAddressSpec = TypeOf<typeof IPAddressSpec>;

export const IPAddress = kind(
  "IPAddress",
  "An allocated IP address; its name is the address in canonical form.",
  {
    metadata: embedded(1, ObjectMeta, "Standard object metadata."),
    spec: embedded(2, IPAddressSpec, "Specification of the IP address."),
  },
);
export type IPAddress = TypeOf<typeof IPAddress>;
