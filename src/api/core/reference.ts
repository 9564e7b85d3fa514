// References from one object to another.
import { type TypeOf, embedded, optional, pointer, required, string } from "#schema";
import { UID } from "../named-types.ts";
import { core } from "../packages.ts";

const { message, kind } = core;

export const ObjectReference = message(
  "ObjectReference",
  "Points at an object, or at a part of it.",
  {
    kind: optional(1, string, "Kind of the object."),
    namespace: optional(2, string, "Namespace of the object."),
    name: optional(3, string, "Name of the object."),
    uid: optional(4, UID, "Identity of the object."),
    apiVersion: optional(5, string, "Group and version of the object."),
    resourceVersion: optional(6, string, "Version of the object at the time."),
    fieldPath: optional(7, string, "The part that is meant, such as spec.containers{web}."),
  },
  { atomic: true },
);
export type ObjectReference = TypeOf<typeof ObjectReference>;

export const LocalObjectReference = message(
  "LocalObjectReference",
  "Points at an object of a known kind in the same namespace.",
  {
    name: optional(1, string, "Name of the object."),
  },
  { atomic: true },
);
export type LocalObjectReference = TypeOf<typeof LocalObjectReference>;

export const TypedLocalObjectReference = message(
  "TypedLocalObjectReference",
  "Points at an object of any kind in the same namespace.",
  {
    apiGroup: required(1, string, "Group of the object; empty or unset for the core group.", {
      nullable: true,
      published: "optional",
    }),
    kind: required(2, string, "Kind of the object."),
    name: required(3, string, "Name of the object."),
  },
  { atomic: true },
);
export type TypedLocalObjectReference = TypeOf<typeof TypedLocalObjectReference>;

export const TypedObjectReference = message(
  "TypedObjectReference",
  "Points at an object of any kind, perhaps in another namespace.",
  {
    apiGroup: required(1, string, "Group of the object; empty or unset for the core group.", {
      nullable: true,
      published: "optional",
    }),
    kind: required(2, string, "Kind of the object."),
    name: required(3, string, "Name of the object."),
    namespace: pointer(4, string, "Namespace of the object where it is another one."),
  },
);
export type TypedObjectReference = TypeOf<typeof TypedObjectReference>;

export const SecretReference = message(
  "SecretReference",
  "Points at a secret in any namespace.",
  {
    name: optional(1, string, "Name of the secret."),
    namespace: optional(2, string, "Namespace of the secret."),
  },
  { atomic: true },
);
export type SecretReference = TypeOf<typeof SecretReference>;

export const SerializedReference = kind(
  "SerializedReference",
  "A reference as an object of its own, for annotations.",
  {
    reference: embedded(1, ObjectReference, "What is pointed at."),
  },
);
export type SerializedReference = TypeOf<typeof SerializedReference>;
