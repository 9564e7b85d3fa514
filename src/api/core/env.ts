// Environment variables and the sources of their values.
import { type TypeOf, bool, embedded, inline, optional, pointer, quantity, required, string } from "#schema";
import { hiddenDefault } from "../extras.ts";
import { core } from "../packages.ts";
import { LocalObjectReference } from "./reference.ts";

const { message } = core;

export const ObjectFieldSelector = message(
  "ObjectFieldSelector",
  "A field of the pod itself.",
  {
    apiVersion: optional(1, string, "Version of the pod the path is written for.", hiddenDefault("v1")),
    fieldPath: required(2, string, "Path of the field, such as metadata.name."),
  },
  { atomic: true },
);
export type ObjectFieldSelector = TypeOf<typeof ObjectFieldSelector>;

export const ResourceFieldSelector = message(
  "ResourceFieldSelector",
  "A request or limit of a container.",
  {
    containerName: optional(1, string, "Which container; its own, for environment variables."),
    resource: required(2, string, "Which amount, such as limits.cpu."),
    divisor: embedded(3, quantity, "Unit of the result; 1 when unset."),
  },
  { atomic: true },
);
export type ResourceFieldSelector = TypeOf<typeof ResourceFieldSelector>;

export const ConfigMapKeySelector = message(
  "ConfigMapKeySelector",
  "One key of a config map.",
  {
    localObjectReference: inline(1, LocalObjectReference),
    key: required(2, string, "The key."),
    optional: pointer(3, bool, "Whether the map or the key may be missing."),
  },
  { atomic: true },
);
export type ConfigMapKeySelector = TypeOf<typeof ConfigMapKeySelector>;

export const SecretKeySelector = message(
  "SecretKeySelector",
  "One key of a secret.",
  {
    localObjectReference: inline(1, LocalObjectReference),
    key: required(2, string, "The key."),
    optional: pointer(3, bool, "Whether the secret or the key may be missing."),
  },
  { atomic: true },
);
export type SecretKeySelector = TypeOf<typeof SecretKeySelector>;

export const EnvVarSource = message("EnvVarSource", "Where a value comes from; exactly one is set.", {
  fieldRef: optional(1, ObjectFieldSelector, "A field of the pod."),
  resourceFieldRef: optional(2, ResourceFieldSelector, "A request or limit of a container."),
  configMapKeyRef: optional(3, ConfigMapKeySelector, "A key of a config map in the pod's namespace."),
  secretKeyRef: optional(4, SecretKeySelector, "A key of a secret in the pod's namespace."),
});
export type EnvVarSource = TypeOf<typeof EnvVarSource>;

export const EnvVar = message("EnvVar", "One environment variable.", {
  name: required(1, string, "Name of the variable."),
  value: optional(2, string, "Its value; $(NAME) stands for a variable defined earlier."),
  valueFrom: optional(3, EnvVarSource, "Where the value comes from instead."),
});
export type EnvVar = TypeOf<typeof EnvVar>;

export const ConfigMapEnvSource = message("ConfigMapEnvSource", "All keys of a config map.", {
  localObjectReference: inline(1, LocalObjectReference),
  optional: pointer(2, bool, "Whether the map may be missing."),
});
export type ConfigMapEnvSource = TypeOf<typeof ConfigMapEnvSource>;

export const SecretEnvSource = message("SecretEnvSource", "All keys of a secret.", {
  localObjectReference: inline(1, LocalObjectReference),
  optional: pointer(2, bool, "Whether the secret may be missing."),
});
export type SecretEnvSource = TypeOf<typeof SecretEnvSource>;

export const EnvFromSource = message("EnvFromSource", "A set of variables.", {
  prefix: optional(1, string, "Put before every key."),
  configMapRef: optional(2, ConfigMapEnvSource, "All keys of a config map."),
  secretRef: optional(3, SecretEnvSource, "All keys of a secret."),
});
export type EnvFromSource = TypeOf<typeof EnvFromSource>;
