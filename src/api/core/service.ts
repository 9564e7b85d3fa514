// Services and their endpoints.
import {
  type TypeOf,
  bool,
  embedded,
  int32,
  intOrString,
  list,
  map,
  optional,
  pointer,
  required,
  string,
} from "#schema";
import { hiddenDefault, mapList, openEnum, patchMerge, atomicList } from "../extras.ts";
import { Condition } from "../meta/condition.ts";
import { ObjectMeta } from "../meta/object-meta.ts";
import { Protocol } from "../named-types.ts";
import { core } from "../packages.ts";
import { ObjectReference } from "./reference.ts";

const { message, kind, named } = core;

export const ServicePort = message("ServicePort", "One port of a service.", {
  name: optional(1, string, "Name of the port; needed when there are several."),
  protocol: optional(2, Protocol, "UDP, TCP or SCTP.", { ...openEnum("SCTP", "TCP", "UDP"), default: "TCP" }),
  appProtocol: pointer(6, string, "What is spoken over the port, as a hint."),
  port: required(3, int32, "Port of the service."),
  targetPort: embedded(
    4,
    intOrString,
    "Number or name of the port of the pods; the same as port when unset.",
  ),
  nodePort: optional(5, int32, "Port on every node that leads here; chosen by the server unless given."),
});
export type ServicePort = TypeOf<typeof ServicePort>;

export const ClientIPConfig = message("ClientIPConfig", "Settings of keeping clients on one pod.", {
  timeoutSeconds: pointer(1, int32, "How long a client stays on its pod."),
});
export type ClientIPConfig = TypeOf<typeof ClientIPConfig>;

export const SessionAffinityConfig = message("SessionAffinityConfig", "Settings of session affinity.", {
  clientIP: optional(1, ClientIPConfig, "Settings for affinity by client address."),
});
export type SessionAffinityConfig = TypeOf<typeof SessionAffinityConfig>;

export const ServiceSpec = message("ServiceSpec", "What a service offers and how it is reached.", {
  ports: optional(1, list(ServicePort), "Ports of the service.", {
    ...patchMerge("port"),
    ...mapList("port", "protocol"),
  }),
  selector: optional(
    2,
    map(string),
    "Labels of the pods behind it; none when someone else keeps the endpoints.",
    { atomicMap: true },
  ),
  clusterIP: optional(3, string, "Its address in the cluster; None for a headless service."),
  clusterIPs: optional(
    18,
    list(string),
    "The same for each address family; the first equals clusterIP.",
    atomicList,
  ),
  type: optional(4, named("ServiceType", string), "ClusterIP, NodePort, LoadBalancer or ExternalName.", {
    ...openEnum("ClusterIP", "ExternalName", "LoadBalancer", "NodePort"),
    ...hiddenDefault("ClusterIP"),
  }),
  externalIPs: optional(5, list(string), "Further addresses for which nodes take traffic."),
  sessionAffinity: optional(
    7,
    named("ServiceAffinity", string),
    "ClientIP keeps a client on one pod; None does not.",
    {
      ...openEnum("ClientIP", "None"),
      ...hiddenDefault("None"),
    },
  ),
  loadBalancerIP: optional(8, string, "Address to ask of the load balancer; deprecated."),
  loadBalancerSourceRanges: optional(9, list(string), "Clients that the load balancer lets through."),
  externalName: optional(10, string, "Name that the service is an alias of, for ExternalName."),
  externalTrafficPolicy: optional(
    11,
    named("ServiceExternalTrafficPolicy", string),
    "Where traffic from outside goes: Cluster for all pods, Local for those of the node.",
    openEnum("Cluster", "Cluster", "Local", "Local"),
  ),
  healthCheckNodePort: optional(
    12,
    int32,
    "Port on which nodes tell load balancers whether they have pods of a Local service.",
  ),
  publishNotReadyAddresses: optional(13, bool, "Publishes pods that are not ready, too."),
  sessionAffinityConfig: optional(14, SessionAffinityConfig, "Settings of session affinity."),
  ipFamilies: optional(
    19,
    list(named("IPFamily", string)),
    "Address families it has; the first is the main one.",
    atomicList,
  ),
  ipFamilyPolicy: pointer(
    17,
    named("IPFamilyPolicy", string),
    "SingleStack, PreferDualStack or RequireDualStack.",
    openEnum("PreferDualStack", "RequireDualStack", "SingleStack"),
  ),
  allocateLoadBalancerNodePorts: pointer(20, bool, "Whether a LoadBalancer service gets node ports, too."),
  loadBalancerClass: pointer(21, string, "Which load balancer is to serve it."),
  internalTrafficPolicy: pointer(
    22,
    named("ServiceInternalTrafficPolicy", string),
    "Where traffic from inside goes: Cluster or Local.",
    openEnum("Cluster", "Local"),
  ),
});
export type ServiceSpec = TypeOf<typeof ServiceSpec>;

export const PortStatus = message("PortStatus", "How one port of a load balancer fares.", {
  port: required(1, int32, "The port."),
  protocol: required(2, Protocol, "UDP, TCP or SCTP.", openEnum("SCTP", "TCP", "UDP")),
  error: pointer(3, string, "What is wrong with it, in one word."),
});
export type PortStatus = TypeOf<typeof PortStatus>;

export const LoadBalancerIngress = message("LoadBalancerIngress", "One way in.", {
  ip: optional(1, string, "Address of the load balancer."),
  hostname: optional(2, string, "Name of the load balancer."),
  ports: optional(4, list(PortStatus), "How its ports fare.", atomicList),
});
export type LoadBalancerIngress = TypeOf<typeof LoadBalancerIngress>;

export const LoadBalancerStatus = message("LoadBalancerStatus", "What the load balancer reports.", {
  ingress: optional(1, list(LoadBalancerIngress), "Ways in."),
});
export type LoadBalancerStatus = TypeOf<typeof LoadBalancerStatus>;

export const ServiceStatus = message("ServiceStatus", "What is known about a service.", {
  loadBalancer: embedded(1, LoadBalancerStatus, "What the load balancer reports."),
  conditions: optional(2, list(Condition), "The latest observations, one for each type.", {
    ...patchMerge("type"),
    ...mapList("type"),
  }),
});
export type ServiceStatus = TypeOf<typeof ServiceStatus>;

export const Service = kind("Service", "A stable address in front of changing pods.", {
  metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
  spec: embedded(2, ServiceSpec, "What it offers and how it is reached."),
  status: embedded(3, ServiceStatus, "What is known about it."),
});
export type Service = TypeOf<typeof Service>;

export const EndpointAddress = message(
  "EndpointAddress",
  "One address.",
  {
    ip: required(1, string, "The address."),
    hostname: optional(3, string, "Host name of it."),
    nodeName: pointer(4, string, "Node it is on."),
    targetRef: optional(2, ObjectReference, "The object behind it."),
  },
  { atomic: true },
);
export type EndpointAddress = TypeOf<typeof EndpointAddress>;

export const EndpointPort = message(
  "EndpointPort",
  "One port.",
  {
    name: optional(1, string, "Name of the port, as in the service."),
    port: required(2, int32, "The port."),
    protocol: optional(3, Protocol, "UDP, TCP or SCTP.", {
      ...openEnum("SCTP", "TCP", "UDP"),
      ...hiddenDefault("TCP"),
    }),
    appProtocol: pointer(4, string, "What is spoken over the port, as a hint."),
  },
  { atomic: true },
);
export type EndpointPort = TypeOf<typeof EndpointPort>;

export const EndpointSubset = message("EndpointSubset", "All combinations of these addresses and ports.", {
  addresses: optional(1, list(EndpointAddress), "Addresses that are ready."),
  notReadyAddresses: optional(2, list(EndpointAddress), "Addresses that are not ready."),
  ports: optional(3, list(EndpointPort), "Ports on each of them."),
});
export type EndpointSubset = TypeOf<typeof EndpointSubset>;

export const Endpoints = kind("Endpoints", "The addresses that a service leads to.", {
  metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
  subsets: optional(2, list(EndpointSubset), "Groups of addresses that share ports."),
});
export type Endpoints = TypeOf<typeof Endpoints>;
