// Pods: containers that share a node, an IP address and volumes.
import {
  type TypeOf,
  bool,
  embedded,
  int32,
  int64,
  list,
  map,
  optional,
  pointer,
  required,
  string,
  time,
} from "#schema";
import { hiddenDefault, mapList, openEnum, patchMerge } from "../extras.ts";
import { ObjectMeta } from "../meta/object-meta.ts";
import { ConditionStatus, PodConditionType, PreemptionPolicy, ResourceList } from "../named-types.ts";
import { core } from "../packages.ts";
import { Affinity, Toleration, TopologySpreadConstraint } from "./affinity.ts";
import { Container, ContainerStatus, EphemeralContainer } from "./container.ts";
import { LocalObjectReference, ObjectReference } from "./reference.ts";
import { PodSecurityContext } from "./security.ts";
import { Volume } from "./volume.ts";

const { message, kind, named } = core;

export const PodOS = message("PodOS", "The operating system a pod is made for.", {
  name: required(1, named("OSName", string), "linux or windows."),
});
export type PodOS = TypeOf<typeof PodOS>;

export const PodSchedulingGate = message(
  "PodSchedulingGate",
  "Something that must be settled before the pod is placed.",
  {
    name: required(1, string, "Name of the gate."),
  },
);
export type PodSchedulingGate = TypeOf<typeof PodSchedulingGate>;

export const PodReadinessGate = message(
  "PodReadinessGate",
  "A condition that must also be true for the pod to be ready.",
  {
    conditionType: required(1, PodConditionType, "Type of the condition."),
  },
);
export type PodReadinessGate = TypeOf<typeof PodReadinessGate>;

export const ClaimSource = message("ClaimSource", "Where a resource claim comes from; one is set.", {
  resourceClaimName: pointer(1, string, "An existing claim in the pod's namespace."),
  resourceClaimTemplateName: pointer(2, string, "A template to make a claim from, for this pod alone."),
});
export type ClaimSource = TypeOf<typeof ClaimSource>;

export const PodResourceClaim = message(
  "PodResourceClaim",
  "A claim that containers of the pod may use by name.",
  {
    name: required(1, string, "Name within the pod."),
    source: embedded(2, ClaimSource, "Where the claim comes from."),
  },
);
export type PodResourceClaim = TypeOf<typeof PodResourceClaim>;

export const HostAlias = message("HostAlias", "A line of the hosts file.", {
  ip: optional(1, string, "Address."),
  hostnames: optional(2, list(string), "Names for the address."),
});
export type HostAlias = TypeOf<typeof HostAlias>;

export const PodDNSConfigOption = message("PodDNSConfigOption", "One option of the resolver.", {
  name: optional(1, string, "Name of the option."),
  value: pointer(2, string, "Its value, if it takes one."),
});
export type PodDNSConfigOption = TypeOf<typeof PodDNSConfigOption>;

export const PodDNSConfig = message(
  "PodDNSConfig",
  "Settings of the resolver, beside those of the DNS policy.",
  {
    nameservers: optional(1, list(string), "Further name servers; duplicates are dropped."),
    searches: optional(2, list(string), "Further search domains; duplicates are dropped."),
    options: optional(3, list(PodDNSConfigOption), "Further options; they win over those of the policy."),
  },
);
export type PodDNSConfig = TypeOf<typeof PodDNSConfig>;

export const PodSpec = message("PodSpec", "What a pod is made of and how it is to run.", {
  volumes: optional(1, list(Volume), "Volumes that containers may mount.", {
    patch: { strategy: "merge,retainKeys", key: "name" },
  }),
  initContainers: optional(
    20,
    list(Container),
    "Containers that run one after the other, to their end, before the rest.",
    patchMerge("name"),
  ),
  containers: required(2, list(Container), "Containers that run side by side.", patchMerge("name")),
  ephemeralContainers: optional(
    34,
    list(EphemeralContainer),
    "Containers added later, to look into the pod.",
    patchMerge("name"),
  ),
  restartPolicy: optional(
    3,
    named("RestartPolicy", string),
    "When ended containers start again: Always, OnFailure or Never.",
    {
      ...openEnum("Always", "Never", "OnFailure"),
      ...hiddenDefault("Always"),
    },
  ),
  terminationGracePeriodSeconds: pointer(
    4,
    int64,
    "Seconds between being told to stop and being killed.",
    hiddenDefault(30),
  ),
  activeDeadlineSeconds: pointer(5, int64, "Seconds the pod may run before it is stopped as failed."),
  dnsPolicy: optional(
    6,
    named("DNSPolicy", string),
    "Which name servers it uses: ClusterFirst, ClusterFirstWithHostNet, Default or None.",
    {
      ...openEnum("ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"),
      ...hiddenDefault("ClusterFirst"),
    },
  ),
  nodeSelector: optional(7, map(string), "Labels that the node must have.", { atomicMap: true }),
  serviceAccountName: optional(8, string, "Account the pod runs as."),
  serviceAccount: optional(9, string, "Old name of serviceAccountName; kept equal to it."),
  automountServiceAccountToken: pointer(21, bool, "Whether a token of the account is mounted."),
  nodeName: optional(10, string, "Node the pod runs on; set by the scheduler, or by hand."),
  hostNetwork: optional(11, bool, "Uses the network of the node."),
  hostPID: optional(12, bool, "Uses the process namespace of the node."),
  hostIPC: optional(13, bool, "Uses the IPC namespace of the node."),
  shareProcessNamespace: pointer(27, bool, "Lets its containers see each other's processes."),
  securityContext: optional(
    14,
    PodSecurityContext,
    "Security settings for all containers.",
    hiddenDefault({}),
  ),
  imagePullSecrets: optional(
    15,
    list(LocalObjectReference),
    "Credentials for pulling its images.",
    patchMerge("name"),
  ),
  hostname: optional(16, string, "Host name inside; the pod's name when empty."),
  subdomain: optional(
    17,
    string,
    "Makes the full name hostname.subdomain.namespace.svc and the cluster's domain.",
  ),
  affinity: optional(18, Affinity, "Wishes about its place."),
  schedulerName: optional(19, string, "Scheduler that is to place it.", hiddenDefault("default-scheduler")),
  tolerations: optional(22, list(Toleration), "Taints it tolerates."),
  hostAliases: optional(23, list(HostAlias), "Further lines of its hosts file.", patchMerge("ip")),
  priorityClassName: optional(24, string, "Class its priority comes from."),
  priority: pointer(25, int32, "How important it is; set from the class."),
  dnsConfig: optional(26, PodDNSConfig, "Settings of its resolver."),
  readinessGates: optional(28, list(PodReadinessGate), "Further conditions for being ready."),
  runtimeClassName: pointer(29, string, "How its containers are run; the node's usual way when unset."),
  enableServiceLinks: pointer(30, bool, "Whether services show up in its environment."),
  preemptionPolicy: pointer(
    31,
    PreemptionPolicy,
    "Whether it may push others out: PreemptLowerPriority or Never.",
    openEnum("Never", "PreemptLowerPriority"),
  ),
  overhead: optional(
    32,
    ResourceList,
    "What running it costs beside its containers; set from the runtime class.",
  ),
  topologySpreadConstraints: optional(
    33,
    list(TopologySpreadConstraint),
    "How evenly it and its like are spread.",
    {
      ...patchMerge("topologyKey"),
      ...mapList("topologyKey", "whenUnsatisfiable"),
    },
  ),
  setHostnameAsFQDN: pointer(35, bool, "Makes the host name its full name."),
  os: optional(36, PodOS, "Operating system it is made for."),
  hostUsers: pointer(37, bool, "Whether it shares the node's user namespace; true when unset."),
  schedulingGates: optional(38, list(PodSchedulingGate), "What must be settled before it is placed.", {
    ...patchMerge("name"),
    ...mapList("name"),
  }),
  resourceClaims: optional(39, list(PodResourceClaim), "Claims that its containers may use.", {
    ...mapList("name"),
    patch: { strategy: "merge,retainKeys", key: "name" },
  }),
});
export type PodSpec = TypeOf<typeof PodSpec>;

export const PodIP = message("PodIP", "One address of a pod.", {
  ip: optional(1, string, "The address."),
});
export type PodIP = TypeOf<typeof PodIP>;

export const PodCondition = message("PodCondition", "One aspect of a pod's state.", {
  type: required(1, PodConditionType, "What the condition is about."),
  status: required(2, ConditionStatus, "True, False or Unknown."),
  lastProbeTime: embedded(3, time, "When the condition was last checked."),
  lastTransitionTime: embedded(4, time, "When the status last changed."),
  reason: optional(5, string, "One CamelCase word for the last change."),
  message: optional(6, string, "The last change, for people."),
});
export type PodCondition = TypeOf<typeof PodCondition>;

export const PodStatus = message("PodStatus", "What is known about a pod; mostly written by its node.", {
  phase: optional(
    1,
    named("PodPhase", string),
    "Pending, Running, Succeeded, Failed or Unknown.",
    openEnum("Failed", "Pending", "Running", "Succeeded", "Unknown"),
  ),
  conditions: optional(
    2,
    list(PodCondition),
    "Scheduled, initialized, ready and the like.",
    patchMerge("type"),
  ),
  message: optional(3, string, "Why it is in this state, for people."),
  reason: optional(4, string, "Why it is in this state, in one word."),
  nominatedNodeName: optional(11, string, "Node on which room is being made for it."),
  hostIP: optional(5, string, "Address of its node."),
  podIP: optional(6, string, "Its address."),
  podIPs: optional(
    12,
    list(PodIP),
    "All its addresses, at most one of each family; the first equals podIP.",
    patchMerge("ip"),
  ),
  startTime: pointer(7, time, "When the node accepted it."),
  initContainerStatuses: optional(10, list(ContainerStatus), "State of the init containers."),
  containerStatuses: optional(8, list(ContainerStatus), "State of the containers."),
  qosClass: optional(
    9,
    named("PodQOSClass", string),
    "Guaranteed, Burstable or BestEffort; follows from its resources.",
    openEnum("BestEffort", "Burstable", "Guaranteed"),
  ),
  ephemeralContainerStatuses: optional(13, list(ContainerStatus), "State of the ephemeral containers."),
  resize: optional(14, named("PodResizeStatus", string), "How a wanted change of resources stands."),
});
export type PodStatus = TypeOf<typeof PodStatus>;

export const Pod = kind("Pod", "One or more containers on one node.", {
  metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
  spec: embedded(2, PodSpec, "What it is made of and how it is to run."),
  status: embedded(3, PodStatus, "What is known about it."),
});
export type Pod = TypeOf<typeof Pod>;

export const PodTemplateSpec = message("PodTemplateSpec", "What pods made from a template look like.", {
  metadata: embedded(1, ObjectMeta, "Labels and annotations of the pods."),
  spec: embedded(2, PodSpec, "What the pods are made of."),
});
export type PodTemplateSpec = TypeOf<typeof PodTemplateSpec>;

export const PodTemplate = kind("PodTemplate", "A stored template for pods.", {
  metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
  template: embedded(2, PodTemplateSpec, "The template."),
});
export type PodTemplate = TypeOf<typeof PodTemplate>;

export const PodStatusResult = kind("PodStatusResult", "A pod's status alone.", {
  metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
  status: embedded(2, PodStatus, "The status."),
});
export type PodStatusResult = TypeOf<typeof PodStatusResult>;

export const Binding = kind("Binding", "Ties a pod to a node.", {
  metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
  target: embedded(2, ObjectReference, "The node.", { published: "required" }),
});
export type Binding = TypeOf<typeof Binding>;
