// Environment variables and the sources of their values.
import { type TypeOf, bool, embedded, inline, optional, pointer, quantity, required, string } from "#schema";
import { hiddenDefault } from "../extras.ts";
import { core } from "../packages.ts";
import { LocalObjectReference } from "./reference.ts";

const { message } = core;

export const ObjectFieldSelector = message(
  "ObjectFieldSelector",
  "Selects a field of the pod.",
  {
    apiVersion: optional(
      1,
      string,
      "API version that the field path is written for; defaults to v1.",
      hiddenDefault("v1"),
    ),
    fieldPath: required(2, string, "Path of the field to select, such as metadata.name."),
  },
  { atomic: true },
);
export type ObjectFieldSelector = TypeOf<typeof ObjectFieldSelector>;

export const ResourceFieldSelector = message(
  "ResourceFieldSelector",
  "Selects a resource request or limit of a container.",
  {
    containerName: optional(
      1,
      string,
      "Name of the container; required in volumes, optional for environment variables.",
    ),
    resource: required(2, string, "Resource to select, such as limits.cpu."),
    divisor: embedded(3, quantity, "Unit in which the value is output; defaults to 1."),
  },
  { atomic: true },
);
export type ResourceFieldSelector = TypeOf<typeof ResourceFieldSelector>;

export const ConfigMapKeySelector = message(
  "ConfigMapKeySelector",
  "Selects a key of a config map.",
  {
    localObjectReference: inline(1, LocalObjectReference),
    key: required(2, string, "Key to select."),
    optional: pointer(3, bool, "Whether the config map or its key may be missing."),
  },
  { atomic: true },
);
export type ConfigMapKeySelector = TypeOf<typeof ConfigMapKeySelector>;

export const SecretKeySelector = message(
  "SecretKeySelector",
  "Selects a key of a secret.",
  {
    localObjectReference: inline(1, LocalObjectReference),
    key: required(2, string, "Key to select."),
    optional: pointer(3, bool, "Whether the secret or the key may be missing."),
  },
  { atomic: true },
);
export type SecretKeySelector = TypeOf<typeof SecretKeySelector>;

export const EnvVarSource = message(
  "EnvVarSource",
  "Source of the value of an environment variable; exactly one member is set.",
  {
    fieldRef: optional(1, ObjectFieldSelector, "A field of the pod."),
    resourceFieldRef: optional(2, ResourceFieldSelector, "A request or limit of a container."),
    configMapKeyRef: optional(3, ConfigMapKeySelector, "A key of a config map in the pod's namespace."),
    secretKeyRef: optional(4, SecretKeySelector, "A key of a secret in the pod's namespace."),
  },
);
export type EnvVarSource = TypeOf<typeof EnvVarSource>;

export const EnvVar = message("EnvVar", "An environment variable of a container.", {
  name: required(1, string, "Name of the environment variable."),
  value: optional(
    2,
    string,
    "Value; $(NAME) references to variables defined earlier are expanded, $$(NAME) yields a " +
      "literal $(NAME).",
  ),
  valueFrom: optional(3, EnvVarSource, "Source of the value; must not be set if value is not empty."),
});
export type EnvVar = TypeOf<typeof EnvVar>;

export const ConfigMapEnvSource = message(
  "ConfigMapEnvSource",
  "A config map whose entries become environment variables.",
  {
    localObjectReference: inline(1, LocalObjectReference),
    optional: pointer(2, bool, "Whether the config map may be missing."),
  },
);
export type ConfigMapEnvSource = TypeOf<typeof ConfigMapEnvSource>;

export const SecretEnvSource = message(
  "SecretEnvSource",
  "A secret whose entries become environment variables.",
  {
    localObjectReference: inline(1, LocalObjectReference),
    optional: pointer(2, bool, "Whether the secret may be missing."),
  },
);
export type SecretEnvSource = TypeOf<typeof SecretEnvSource>;

export const EnvFromSource = message("EnvFromSource", "Source of a set of environment variables.", {
  prefix: optional(1, string, "Prefix of the name of each variable."),
  configMapRef: optional(2, ConfigMapEnvSource, "Config map to take the variables from."),
  secretRef: optional(3, SecretEnvSource, "Secret to take the variables from."),
});
export type EnvFromSource = TypeOf<typeof EnvFromSource>;
