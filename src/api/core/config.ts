// Config maps, secrets and service accounts.
import { type TypeOf, bool, bytes, embedded, list, map, optional, pointer, string } from "#schema";
import { hiddenDefault, keepEmpty, patchMerge } from "../extras.ts";
import { ObjectMeta } from "../meta/object-meta.ts";
import { core } from "../packages.ts";
import { LocalObjectReference, ObjectReference } from "./reference.ts";

const { kind, named } = core;

export const ConfigMap = kind("ConfigMap", "Settings for pods to read.", {
  metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
  immutable: pointer(4, bool, "Forbids any later change of the data."),
  data: optional(2, map(string), "Values as text."),
  binaryData: optional(3, map(bytes), "Values as bytes; keys must not overlap with data.", keepEmpty),
});
export type ConfigMap = TypeOf<typeof ConfigMap>;

export const Secret = kind("Secret", "Values that must not be seen by everyone.", {
  metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
  immutable: pointer(5, bool, "Forbids any later change of the data."),
  data: optional(2, map(bytes), "Values as bytes.", keepEmpty),
  stringData: optional(4, map(string), "Values as text; write only, folded into data."),
  type: optional(
    3,
    named("SecretType", string),
    "Says how programs may use the data.",
    hiddenDefault("Opaque"),
  ),
});
export type Secret = TypeOf<typeof Secret>;

export const ServiceAccount = kind("ServiceAccount", "An identity for programs in pods.", {
  metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
  secrets: optional(
    2,
    list(ObjectReference),
    "Secrets that pods under this account may use.",
    patchMerge("name"),
  ),
  imagePullSecrets: optional(
    3,
    list(LocalObjectReference),
    "Credentials for pulling images of pods under this account.",
  ),
  automountServiceAccountToken: pointer(
    4,
    bool,
    "Whether pods get a token of the account; a pod may say otherwise.",
  ),
});
export type ServiceAccount = TypeOf<typeof ServiceAccount>;
