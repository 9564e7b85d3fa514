// Config maps, secrets and service accounts.
import { type TypeOf, bool, bytes, embedded, list, map, optional, pointer, string } from "#schema";
import { hiddenDefault, keepEmpty, patchMerge } from "../extras.ts";
import { ObjectMeta } from "../meta/object-meta.ts";
import { core } from "../packages.ts";
import { LocalObjectReference, ObjectReference } from "./reference.ts";

const { kind, named } = core;

export const ConfigMap = kind("ConfigMap", "Configuration data for pods to consume.", {
  metadata: embedded(1, ObjectMeta, "Standard object metadata."),
  immutable: pointer(
    4,
    bool,
    "Whether the data is immutable; once true, neither the data nor this field can be changed.",
  ),
  data: optional(2, map(string), "Configuration data as UTF-8 text; keys must not overlap with binaryData."),
  binaryData: optional(
    3,
    map(bytes),
    "Configuration data as bytes, encoded as base64; keys must not overlap with data.",
    keepEmpty,
  ),
});
export type ConfigMap = TypeOf<typeof ConfigMap>;

export const Secret = kind("Secret", "Sensitive data such as passwords, tokens and keys.", {
  metadata: embedded(1, ObjectMeta, "Standard object metadata."),
  immutable: pointer(
    5,
    bool,
    "Whether the data is immutable; once true, neither the data nor this field can be changed.",
  ),
  data: optional(2, map(bytes), "Secret data, encoded as base64.", keepEmpty),
  stringData: optional(
    4,
    map(string),
    "Write-only convenience for text values; merged into data on write, overwriting existing keys.",
  ),
  type: optional(
    3,
    named("SecretType", string),
    "Type of the secret, which facilitates programmatic handling of its data; defaults to Opaque.",
    hiddenDefault("Opaque"),
  ),
});
export type Secret = TypeOf<typeof Secret>;

export const ServiceAccount = kind("ServiceAccount", "An identity for processes that run in pods.", {
  metadata: embedded(1, ObjectMeta, "Standard object metadata."),
  secrets: optional(
    2,
    list(ObjectReference),
    "Secrets that pods using this service account may refer to.",
    patchMerge("name"),
  ),
  imagePullSecrets: optional(
    3,
    list(LocalObjectReference),
    "Secrets with the credentials for pulling images of pods that use this service account.",
  ),
  automountServiceAccountToken: pointer(
    4,
    bool,
    "Whether pods get a token of the service account mounted; can be overridden by the pod.",
  ),
});
export type ServiceAccount = TypeOf<typeof ServiceAccount>;
