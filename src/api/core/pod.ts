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
import { atomicList, gated, hiddenDefault, mapList, openEnum, patchMerge } from "../extras.ts";
import { ObjectMeta } from "../meta/object-meta.ts";
import { ConditionStatus, PodConditionType, PreemptionPolicy, ResourceList } from "../named-types.ts";
import { core } from "../packages.ts";
import { Affinity, Toleration, TopologySpreadConstraint } from "./affinity.ts";
import { Container, ContainerStatus, EphemeralContainer } from "./container.ts";
import { LocalObjectReference, ObjectReference } from "./reference.ts";
import { PodSecurityContext } from "./security.ts";
import { Volume } from "./volume.ts";

const { message, kind, named } = core;

export const PodOS = message("PodOS", "Operating system of a pod.", {
  name: required(1, named("OSName", string), "Name of the operating system: linux or windows."),
});
export type PodOS = TypeOf<typeof PodOS>;

export const PodSchedulingGate = message(
  "PodSchedulingGate",
  "Blocks the scheduling of a pod until it is removed.",
  {
    name: required(1, string, "Name of the scheduling gate, unique in the pod."),
  },
);
export type PodSchedulingGate = TypeOf<typeof PodSchedulingGate>;

export const PodReadinessGate = message(
  "PodReadinessGate",
  "A pod condition that must be True for the pod to be ready.",
  {
    conditionType: required(1, PodConditionType, "Type of the pod condition."),
  },
);
export type PodReadinessGate = TypeOf<typeof PodReadinessGate>;

export const ClaimSource = message("ClaimSource", "Source of a resource claim; exactly one member is set.", {
  resourceClaimName: pointer(1, string, "Name of an existing resource claim in the pod's namespace."),
  resourceClaimTemplateName: pointer(
    2,
    string,
    "Name of the resource claim template from which a claim is generated for this pod.",
  ),
});
export type ClaimSource = TypeOf<typeof ClaimSource>;

export const PodResourceClaim = message(
  "PodResourceClaim",
  "A resource claim that containers of the pod can refer to by name.",
  {
    name: required(1, string, "Name of the claim within the pod."),
    source: embedded(2, ClaimSource, "Existing claim or claim template to use."),
  },
);
export type PodResourceClaim = TypeOf<typeof PodResourceClaim>;

export const HostAlias = message("HostAlias", "An entry of the pod's hosts file.", {
  ip: optional(1, string, "IP address of the entry."),
  hostnames: optional(2, list(string), "Host names that resolve to the IP address."),
});
export type HostAlias = TypeOf<typeof HostAlias>;

export const PodDNSConfigOption = message("PodDNSConfigOption", "An option of the DNS resolver.", {
  name: optional(1, string, "Name of the option."),
  value: pointer(2, string, "Value of the option, if it takes one."),
});
export type PodDNSConfigOption = TypeOf<typeof PodDNSConfigOption>;

export const PodDNSConfig = message(
  "PodDNSConfig",
  "DNS parameters of a pod, in addition to those generated from its DNS policy.",
  {
    nameservers: optional(1, list(string), "IP addresses of additional DNS servers; duplicates are removed."),
    searches: optional(2, list(string), "Additional search domains; duplicates are removed."),
    options: optional(
      3,
      list(PodDNSConfigOption),
      "Additional resolver options; they override options of the same name from the DNS policy.",
    ),
  },
);
export type PodDNSConfig = TypeOf<typeof PodDNSConfig>;

export const PodSpec = message("PodSpec", "Specification of a pod.", {
  volumes: optional(1, list(Volume), "Volumes that containers of the pod can mount.", {
    patch: { strategy: "merge,retainKeys", key: "name" },
  }),
  initContainers: optional(
    20,
    list(Container),
    "Containers that run to completion one after another before the regular containers start.",
    patchMerge("name"),
  ),
  containers: required(
    2,
    list(Container),
    "Regular containers of the pod; at least one is required.",
    patchMerge("name"),
  ),
  ephemeralContainers: optional(
    34,
    list(EphemeralContainer),
    "Temporary containers added to a running pod, for example for debugging.",
    patchMerge("name"),
  ),
  restartPolicy: optional(
    3,
    named("RestartPolicy", string),
    "When to restart terminated containers: Always (default), OnFailure or Never.",
    {
      ...openEnum("Always", "Never", "OnFailure"),
      ...hiddenDefault("Always"),
    },
  ),
  terminationGracePeriodSeconds: pointer(
    4,
    int64,
    "Seconds between the termination signal and the kill of the processes; defaults to 30, 0 " +
      "kills immediately.",
    hiddenDefault(30),
  ),
  activeDeadlineSeconds: pointer(
    5,
    int64,
    "Seconds, counted from startTime, for which the pod may be active before it is terminated and " +
      "marked as failed.",
  ),
  dnsPolicy: optional(
    6,
    named("DNSPolicy", string),
    "DNS policy of the pod: ClusterFirst (default), ClusterFirstWithHostNet, Default or None.",
    {
      ...openEnum("ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"),
      ...hiddenDefault("ClusterFirst"),
    },
  ),
  nodeSelector: optional(
    7,
    map(string),
    "Labels that a node must have for the pod to be scheduled onto it.",
    { atomicMap: true },
  ),
  serviceAccountName: optional(8, string, "Name of the service account to run the pod as."),
  serviceAccount: optional(9, string, "Deprecated alias of serviceAccountName; the two are kept equal."),
  automountServiceAccountToken: pointer(
    21,
    bool,
    "Whether a service account token is mounted into the containers.",
  ),
  nodeName: optional(10, string, "Name of the node the pod is bound to; usually set by the scheduler."),
  hostNetwork: optional(11, bool, "Whether to use the network namespace of the host."),
  hostPID: optional(12, bool, "Whether to use the process ID namespace of the host."),
  hostIPC: optional(13, bool, "Whether to use the IPC namespace of the host."),
  shareProcessNamespace: pointer(
    27,
    bool,
    "Whether all containers of the pod share a single process namespace.",
  ),
  securityContext: optional(
    14,
    PodSecurityContext,
    "Security attributes of the pod and defaults for its containers.",
    hiddenDefault({}),
  ),
  imagePullSecrets: optional(
    15,
    list(LocalObjectReference),
    "Secrets with the credentials for pulling the pod's images.",
    patchMerge("name"),
  ),
  hostname: optional(16, string, "Host name of the pod; defaults to the pod's name."),
  subdomain: optional(
    17,
    string,
    "Subdomain of the pod, whose full name is hostname.subdomain.namespace.svc.cluster-domain.",
  ),
  affinity: optional(18, Affinity, "Affinity scheduling rules of the pod."),
  schedulerName: optional(
    19,
    string,
    "Name of the scheduler that places the pod; defaults to default-scheduler.",
    hiddenDefault("default-scheduler"),
  ),
  tolerations: optional(22, list(Toleration), "Taints that the pod tolerates."),
  hostAliases: optional(23, list(HostAlias), "Additional entries of the pod's hosts file.", patchMerge("ip")),
  priorityClassName: optional(24, string, "Name of the priority class of the pod."),
  priority: pointer(
    25,
    int32,
    "Priority of the pod, higher values being more important; set from the priority class on admission.",
  ),
  dnsConfig: optional(
    26,
    PodDNSConfig,
    "DNS parameters of the pod, in addition to those generated from dnsPolicy.",
  ),
  readinessGates: optional(
    28,
    list(PodReadinessGate),
    "Additional pod conditions that must be True for the pod to be ready.",
  ),
  runtimeClassName: pointer(
    29,
    string,
    "Name of the runtime class that runs the pod; the node's default runtime handler if unset.",
  ),
  enableServiceLinks: pointer(
    30,
    bool,
    "Whether services are exposed as environment variables of the containers; defaults to true.",
  ),
  preemptionPolicy: pointer(
    31,
    PreemptionPolicy,
    "Whether the pod may preempt pods of lower priority: PreemptLowerPriority (default) or Never.",
    openEnum("Never", "PreemptLowerPriority"),
  ),
  overhead: optional(
    32,
    ResourceList,
    "Resources used by running the pod in addition to those of its containers; set from the " +
      "runtime class.",
  ),
  topologySpreadConstraints: optional(
    33,
    list(TopologySpreadConstraint),
    "Rules on how pods like this one are spread over topology domains; all of them apply.",
    {
      ...patchMerge("topologyKey"),
      ...mapList("topologyKey", "whenUnsatisfiable"),
    },
  ),
  setHostnameAsFQDN: pointer(
    35,
    bool,
    "Whether the fully qualified domain name of the pod is used as its host name; defaults to false.",
  ),
  os: optional(36, PodOS, "Operating system of the containers in the pod."),
  hostUsers: pointer(37, bool, "Whether to use the user namespace of the host; defaults to true."),
  schedulingGates: optional(
    38,
    list(PodSchedulingGate),
    "Gates that block scheduling until all of them are removed; can only be set on creation.",
    {
      ...patchMerge("name"),
      ...mapList("name"),
    },
  ),
  resourceClaims: optional(
    39,
    list(PodResourceClaim),
    "Resource claims that must be allocated before the pod starts; containers refer to them by name.",
    {
      ...mapList("name"),
      patch: { strategy: "merge,retainKeys", key: "name" },
    },
  ),
});
export type PodSpec = TypeOf<typeof PodSpec>;

export const PodIP = message("PodIP", "An IP address of a pod.", {
  ip: optional(1, string, "IP address assigned to the pod."),
});
export type PodIP = TypeOf<typeof PodIP>;

export const HostIP = message("HostIP", "An IP address of a node.", {
  ip: required(1, string, "IP address assigned to the node."),
});

export const PodCondition = message("PodCondition", "A condition of a pod.", {
  type: required(1, PodConditionType, "Type of the condition."),
  status: required(2, ConditionStatus, "Status of the condition: True, False or Unknown."),
  lastProbeTime: embedded(3, time, "Time at which the condition was last checked."),
  lastTransitionTime: embedded(4, time, "Time at which the status of the condition last changed."),
  reason: optional(5, string, "Machine-readable reason for the last transition, one CamelCase word."),
  message: optional(6, string, "Human-readable details of the last transition."),
});
export type PodCondition = TypeOf<typeof PodCondition>;

export const PodStatus = message("PodStatus", "Most recently observed status of a pod.", {
  phase: optional(
    1,
    named("PodPhase", string),
    "Phase of the pod's lifecycle: Pending, Running, Succeeded, Failed or Unknown.",
    openEnum("Failed", "Pending", "Running", "Succeeded", "Unknown"),
  ),
  conditions: optional(
    2,
    list(PodCondition),
    "Current conditions of the pod, such as PodScheduled, Initialized and Ready.",
    patchMerge("type"),
  ),
  message: optional(3, string, "Human-readable details of why the pod is in this state."),
  reason: optional(4, string, "Machine-readable reason for the current state, such as Evicted."),
  nominatedNodeName: optional(
    11,
    string,
    "Node on which the pod preempts others and may be scheduled once their resources are freed.",
  ),
  hostIP: optional(5, string, "IP address of the node the pod is assigned to."),
  hostIPs: optional(
    16,
    list(HostIP),
    "IP addresses of the node, at most one of each IP family; the first equals hostIP.",
    { ...patchMerge("ip"), ...atomicList, ...gated("PodHostIPs") },
  ),
  podIP: optional(6, string, "Primary IP address of the pod; empty until one is allocated."),
  podIPs: optional(
    12,
    list(PodIP),
    "IP addresses of the pod, at most one of each IP family; the first equals podIP.",
    patchMerge("ip"),
  ),
  startTime: pointer(7, time, "Time at which the node accepted the pod, before any image was pulled."),
  initContainerStatuses: optional(10, list(ContainerStatus), "Statuses of the init containers."),
  containerStatuses: optional(8, list(ContainerStatus), "Statuses of the regular containers."),
  qosClass: optional(
    9,
    named("PodQOSClass", string),
    "Quality of service class derived from the resource requirements: Guaranteed, Burstable or " +
      "BestEffort.",
    openEnum("BestEffort", "Burstable", "Guaranteed"),
  ),
  ephemeralContainerStatuses: optional(13, list(ContainerStatus), "Statuses of the ephemeral containers."),
  resize: optional(
    14,
    named("PodResizeStatus", string),
    "Progress of a requested resize of the containers' resources; empty if none is pending.",
  ),
});
export type PodStatus = TypeOf<typeof PodStatus>;

export const Pod = kind("Pod", "A group of containers that run on the same node.", {
  metadata: embedded(1, ObjectMeta, "Standard object metadata."),
  spec: embedded(2, PodSpec, "Specification of the desired behavior of the pod."),
  status: embedded(3, PodStatus, "Most recently observed status of the pod."),
});
export type Pod = TypeOf<typeof Pod>;

export const PodTemplateSpec = message("PodTemplateSpec", "Template from which pods are created.", {
  metadata: embedded(
    1,
    ObjectMeta,
    "Standard object metadata of the created pods, such as labels and annotations.",
  ),
  spec: embedded(2, PodSpec, "Specification of the desired behavior of the pod."),
});
export type PodTemplateSpec = TypeOf<typeof PodTemplateSpec>;

export const PodTemplate = kind("PodTemplate", "A stored template for creating pods.", {
  metadata: embedded(1, ObjectMeta, "Standard object metadata."),
  template: embedded(2, PodTemplateSpec, "Template from which pods are created."),
});
export type PodTemplate = TypeOf<typeof PodTemplate>;

export const PodStatusResult = kind("PodStatusResult", "Status of a pod, without its spec.", {
  metadata: embedded(1, ObjectMeta, "Standard object metadata."),
  status: embedded(2, PodStatus, "Most recently observed status of the pod."),
});
export type PodStatusResult = TypeOf<typeof PodStatusResult>;

export const Binding = kind(
  "Binding",
  "Binds a pod to a node; deprecated as a resource in favor of the pods/binding subresource.",
  {
    metadata: embedded(1, ObjectMeta, "Standard object metadata."),
    target: embedded(2, ObjectReference, "Node to bind the pod to.", { published: "required" }),
  },
);
export type Binding = TypeOf<typeof Binding>;
