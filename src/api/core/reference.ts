// References from one object to another.
import { type TypeOf, embedded, optional, pointer, required, string } from "#schema";
import { UID } from "../named-types.ts";
import { core } from "../packages.ts";

const { message, kind } = core;

export const ObjectReference = message(
  "ObjectReference",
  "Reference to an object or a part of it.",
  {
    kind: optional(1, string, "Kind of the object."),
    namespace: optional(2, string, "Namespace of the object."),
    name: optional(3, string, "Name of the object."),
    uid: optional(4, UID, "UID of the object."),
    apiVersion: optional(5, string, "API version (group and version) of the object."),
    resourceVersion: optional(
      6,
      string,
      "Specific resource version of the object that the reference was made to.",
    ),
    fieldPath: optional(
      7,
      string,
      "Path of the part of the object that is referred to, such as spec.containers{web}.",
    ),
  },
  { atomic: true },
);
export type ObjectReference = TypeOf<typeof ObjectReference>;

export const LocalObjectReference = message(
  "LocalObjectReference",
  "Reference to an object of a known kind in the same namespace.",
  {
    name: optional(1, string, "Name of the object."),
  },
  { atomic: true },
);
export type LocalObjectReference = TypeOf<typeof LocalObjectReference>;

export const TypedLocalObjectReference = message(
  "TypedLocalObjectReference",
  "Reference to an object of any kind in the same namespace.",
  {
    apiGroup: required(1, string, "API group of the object; empty or unset means the core group.", {
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
  "Reference to an object of any kind, possibly in another namespace.",
  {
    apiGroup: required(1, string, "API group of the object; empty or unset means the core group.", {
      nullable: true,
      published: "optional",
    }),
    kind: required(2, string, "Kind of the object."),
    name: required(3, string, "Name of the object."),
    namespace: pointer(
      4,
      string,
      "Namespace of the object, if it is in another one; requires a reference grant there.",
    ),
  },
);
export type TypedObjectReference = TypeOf<typeof TypedObjectReference>;

export const SecretReference = message(
  "SecretReference",
  "Reference to a secret in any namespace.",
  {
    name: optional(1, string, "Name of the secret."),
    namespace: optional(2, string, "Namespace of the secret."),
  },
  { atomic: true },
);
export type SecretReference = TypeOf<typeof SecretReference>;

export const SerializedReference = kind(
  "SerializedReference",
  "A reference serialized as an object, as stored in annotations.",
  {
    reference: embedded(1, ObjectReference, "Reference to an object."),
  },
);
export type SerializedReference = TypeOf<typeof SerializedReference>;
