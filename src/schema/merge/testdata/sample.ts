// Small declarations for the tests of this directory, modelled on real kinds so that every merge rule occurs.

import { type Message, apiPackage, bool, embedded, inline, int32, int64, intOrString, json, list, map, optional, pointer, quantity, rawExtension, recursive, required, string, time } from "../../shape.ts";

const { kind, message } = apiPackage({ package: "test.v1", version: "v1" });
const apps = apiPackage({ package: "test.apps.v1", group: "apps", version: "v1" });

export const Owner = message("Owner", "An owner.", { apiVersion: required(1, string, "Version."), kind: required(2, string, "Kind."), name: required(3, string, "Name."), uid: required(4, string, "Identity.") }, { atomic: true });
export const Meta = message("Meta", "Metadata.", {
  name: optional(1, string, "Name."),
  namespace: optional(2, string, "Namespace."),
  uid: optional(3, string, "Identity."),
  resourceVersion: optional(4, string, "Version."),
  generation: optional(5, int64, "Generation."),
  creationTimestamp: embedded(6, time, "Birth."),
  labels: optional(7, map(string), "Labels."),
  annotations: optional(8, map(string), "Annotations."),
  ownerReferences: optional(9, list(Owner), "Owners.", { patch: { strategy: "merge", key: "uid" } }),
  finalizers: optional(10, list(string), "Finalizers.", { patch: { strategy: "merge" } }),
  managedFields: optional(11, list(json), "Managers."),
});
export const Selector = message("Selector", "A selector.", { matchLabels: optional(1, map(string), "Labels.") }, { atomic: true });
const Port = message("Port", "A port.", {
  name: optional(1, string, "Name."),
  containerPort: required(2, int32, "Number."),
  protocol: optional(3, string, "Protocol.", { default: "TCP" }),
});
const Env = message("Env", "A variable.", { name: required(1, string, "Name."), value: optional(2, string, "Value.") });
const Resources = message("Resources", "Resources.", { limits: optional(1, map(quantity), "Most."), requests: optional(2, map(quantity), "Least.") });
const Container = message("Container", "A container.", {
  name: required(1, string, "Name."),
  image: optional(2, string, "Image."),
  args: optional(3, list(string), "Arguments."),
  env: optional(4, list(Env), "Variables.", { patch: { strategy: "merge", key: "name" } }),
  ports: optional(5, list(Port), "Ports.", { patch: { strategy: "merge", key: "containerPort" }, list: { type: "map", keys: ["containerPort", "protocol"] } }),
  resources: embedded(6, Resources, "Resources."),
  imagePullPolicy: optional(7, string, "When to pull."),
});
const EmptyDir = message("EmptyDir", "Scratch space.", { medium: optional(1, string, "Medium.") });
const HostPath = message("HostPath", "A path.", { path: required(1, string, "Path.") });
const VolumeSource = message("VolumeSource", "A source.", { emptyDir: pointer(1, EmptyDir, "Scratch."), hostPath: pointer(2, HostPath, "Path.") });
const Volume = message("Volume", "A volume.", { name: required(1, string, "Name."), volumeSource: inline(2, VolumeSource) });
const PullSecret = message("PullSecret", "A secret.", { name: optional(1, string, "Name.") }, { atomic: true });
const PodSpec = message("PodSpec", "What to run.", {
  volumes: optional(1, list(Volume), "Volumes.", { patch: { strategy: "merge,retainKeys", key: "name" } }),
  containers: required(2, list(Container), "Containers.", { patch: { strategy: "merge", key: "name" } }),
  nodeSelector: optional(3, map(string), "Nodes.", { atomicMap: true }),
  imagePullSecrets: optional(4, list(PullSecret), "Secrets.", { patch: { strategy: "merge", key: "name" } }),
  terminationGracePeriodSeconds: pointer(5, int64, "Grace."),
  hostNetwork: optional(6, bool, "Share the network."),
});
const Condition = message("Condition", "A condition.", {
  type: required(1, string, "Type."),
  status: required(2, string, "Status."),
  lastTransitionTime: embedded(3, time, "When."),
});
const PodStatus = message("PodStatus", "What runs.", {
  phase: optional(1, string, "Phase."),
  conditions: optional(2, list(Condition), "Conditions.", { patch: { strategy: "merge", key: "type" } }),
});
export const Pod = kind("Pod", "A pod.", { metadata: embedded(1, Meta, "Metadata."), spec: embedded(2, PodSpec, "Spec."), status: embedded(3, PodStatus, "Status.") });

const RollingUpdate = message("RollingUpdate", "A rollout.", { maxSurge: pointer(1, intOrString, "More."), maxUnavailable: pointer(2, intOrString, "Less.") });
const Strategy = message("Strategy", "A strategy.", { type: optional(1, string, "Type."), rollingUpdate: pointer(2, RollingUpdate, "Rollout.") });
const Template = message("Template", "A template.", { metadata: embedded(1, Meta, "Metadata."), spec: embedded(2, PodSpec, "Spec.") });
const DeploymentSpec = message("DeploymentSpec", "A spec.", {
  replicas: pointer(1, int32, "How many."),
  selector: required(2, Selector, "Which.", { nullable: true }),
  template: embedded(3, Template, "What."),
  strategy: embedded(4, Strategy, "How.", { patch: { strategy: "retainKeys" } }),
});
const DeploymentStatus = message("DeploymentStatus", "A status.", { observedGeneration: optional(1, int64, "Seen."), replicas: optional(2, int32, "How many.") });
export const Deployment = apps.kind("Deployment", "A deployment.", {
  metadata: embedded(1, Meta, "Metadata."),
  spec: embedded(2, DeploymentSpec, "Spec."),
  status: embedded(3, DeploymentStatus, "Status."),
});
export const ConfigMap = kind("ConfigMap", "Data.", { metadata: embedded(1, Meta, "Metadata."), data: optional(2, map(string), "Data."), immutable: pointer(3, bool, "Fixed.") });

type Tree = { readonly name: string; readonly children?: readonly Tree[] };
const TreeNode: Message = message("TreeNode", "A node.", {
  name: required(1, string, "Name."),
  children: optional(2, list(recursive<Tree>(() => TreeNode)), "Children.", { list: { type: "map", keys: ["name"] } }),
});
export const Forest = kind("Forest", "Odd shapes.", {
  metadata: embedded(1, Meta, "Metadata."),
  root: pointer(2, TreeNode, "A recursion."),
  anything: optional(3, json, "Any value."),
  raw: optional(4, rawExtension, "An object kept whole."),
  extra: optional(5, map(list(string)), "Lists by name."),
  numbers: optional(6, list(int32), "A set of numbers.", { list: { type: "set" } }),
});
