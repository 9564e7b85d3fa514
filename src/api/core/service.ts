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
import { gated, hiddenDefault, mapList, openEnum, patchMerge, atomicList } from "../extras.ts";
import { Condition } from "../meta/condition.ts";
import { ObjectMeta } from "../meta/object-meta.ts";
import { Protocol } from "../named-types.ts";
import { core } from "../packages.ts";
import { ObjectReference } from "./reference.ts";

const { message, kind, named } = core;

export const ServicePort = message("ServicePort", "A port of a service.", {
  name: optional(1, string, "Name of the port; required and unique if the service has several ports."),
  protocol: optional(2, Protocol, "Protocol of the port: UDP, TCP or SCTP.", {
    ...openEnum("SCTP", "TCP", "UDP"),
    default: "TCP",
  }),
  appProtocol: pointer(6, string, "Application protocol of the port, as a hint for implementations."),
  port: required(3, int32, "Port number that the service exposes."),
  targetPort: embedded(
    4,
    intOrString,
    "Number or name of the port on the pods; defaults to the value of port.",
  ),
  nodePort: optional(
    5,
    int32,
    "Port on every node for types NodePort and LoadBalancer; usually allocated by the system.",
  ),
});
export type ServicePort = TypeOf<typeof ServicePort>;

export const ClientIPConfig = message("ClientIPConfig", "Configuration of session affinity by client IP.", {
  timeoutSeconds: pointer(
    1,
    int32,
    "Seconds for which a client sticks to the same pod, from 1 to 86400; defaults to 10800.",
  ),
});
export type ClientIPConfig = TypeOf<typeof ClientIPConfig>;

export const SessionAffinityConfig = message("SessionAffinityConfig", "Configuration of session affinity.", {
  clientIP: optional(1, ClientIPConfig, "Configuration of session affinity by client IP."),
});
export type SessionAffinityConfig = TypeOf<typeof SessionAffinityConfig>;

export const ServiceSpec = message("ServiceSpec", "Specification of a service.", {
  ports: optional(1, list(ServicePort), "Ports that the service exposes.", {
    ...patchMerge("port"),
    ...mapList("port", "protocol"),
  }),
  selector: optional(
    2,
    map(string),
    "Labels of the pods to route traffic to; if empty, the endpoints are managed externally.",
    { atomicMap: true },
  ),
  clusterIP: optional(
    3,
    string,
    "Cluster IP of the service, usually allocated by the system; None for a headless service.",
  ),
  clusterIPs: optional(
    18,
    list(string),
    "Cluster IPs of the service, at most one of each IP family; the first equals clusterIP.",
    atomicList,
  ),
  type: optional(
    4,
    named("ServiceType", string),
    "How the service is exposed: ClusterIP (default), NodePort, LoadBalancer or ExternalName.",
    {
      ...openEnum("ClusterIP", "ExternalName", "LoadBalancer", "NodePort"),
      ...hiddenDefault("ClusterIP"),
    },
  ),
  externalIPs: optional(
    5,
    list(string),
    "Additional IP addresses for which nodes accept traffic of the service; not managed by the cluster.",
  ),
  sessionAffinity: optional(
    7,
    named("ServiceAffinity", string),
    "Session affinity: ClientIP sends requests of a client to the same pod, None (default) does not.",
    {
      ...openEnum("ClientIP", "None"),
      ...hiddenDefault("None"),
    },
  ),
  loadBalancerIP: optional(
    8,
    string,
    "IP address requested from the load balancer; deprecated, as support differs between providers.",
  ),
  loadBalancerSourceRanges: optional(
    9,
    list(string),
    "CIDRs of the clients that the load balancer admits, if it supports that.",
  ),
  externalName: optional(
    10,
    string,
    "DNS name that the service is an alias (CNAME) of; required for type ExternalName.",
  ),
  externalTrafficPolicy: optional(
    11,
    named("ServiceExternalTrafficPolicy", string),
    "Routing of external traffic: Cluster to all endpoints, Local only to endpoints on the " +
      "receiving node.",
    openEnum("Cluster", "Cluster", "Local", "Local"),
  ),
  healthCheckNodePort: optional(
    12,
    int32,
    "Health check port of the nodes for load balancers, if externalTrafficPolicy is Local.",
  ),
  publishNotReadyAddresses: optional(
    13,
    bool,
    "Whether addresses of pods that are not ready are published as well.",
  ),
  sessionAffinityConfig: optional(14, SessionAffinityConfig, "Configuration of session affinity."),
  ipFamilies: optional(
    19,
    list(named("IPFamily", string)),
    "IP families of the service, IPv4 or IPv6; the first is the primary one.",
    atomicList,
  ),
  ipFamilyPolicy: pointer(
    17,
    named("IPFamilyPolicy", string),
    "Dual-stack policy: SingleStack (default), PreferDualStack or RequireDualStack.",
    openEnum("PreferDualStack", "RequireDualStack", "SingleStack"),
  ),
  allocateLoadBalancerNodePorts: pointer(
    20,
    bool,
    "Whether node ports are allocated for a service of type LoadBalancer; defaults to true.",
  ),
  loadBalancerClass: pointer(
    21,
    string,
    "Class of the load balancer implementation; the cloud provider's default if unset.",
  ),
  internalTrafficPolicy: pointer(
    22,
    named("ServiceInternalTrafficPolicy", string),
    "Routing of internal traffic: Cluster (default) to all endpoints, Local only to those on the " +
      "same node.",
    openEnum("Cluster", "Local"),
  ),
  trafficDistribution: pointer(
    23,
    string,
    "Preference for the distribution of traffic to endpoints; PreferClose prefers those of the client's zone.",
    gated("ServiceTrafficDistribution"),
  ),
});
export type ServiceSpec = TypeOf<typeof ServiceSpec>;

export const PortStatus = message("PortStatus", "Status of a port of a load balancer.", {
  port: required(1, int32, "Port number of the service."),
  protocol: required(2, Protocol, "Protocol of the port: UDP, TCP or SCTP.", openEnum("SCTP", "TCP", "UDP")),
  error: pointer(3, string, "Machine-readable problem with the port."),
});
export type PortStatus = TypeOf<typeof PortStatus>;

export const LoadBalancerIngress = message("LoadBalancerIngress", "An ingress point of a load balancer.", {
  ip: optional(1, string, "IP address of the ingress point, for IP-based load balancers."),
  hostname: optional(2, string, "Host name of the ingress point, for DNS-based load balancers."),
  ipMode: pointer(
    3,
    named("LoadBalancerIPMode", string),
    "How traffic to the IP address arrives: VIP (default) with the address as destination, or Proxy with that of a node or pod.",
    gated("LoadBalancerIPMode"),
  ),
  ports: optional(4, list(PortStatus), "Statuses of the service's ports.", atomicList),
});
export type LoadBalancerIngress = TypeOf<typeof LoadBalancerIngress>;

export const LoadBalancerStatus = message("LoadBalancerStatus", "Status of the load balancer.", {
  ingress: optional(
    1,
    list(LoadBalancerIngress),
    "Ingress points of the load balancer; traffic for the service should be sent to them.",
  ),
});
export type LoadBalancerStatus = TypeOf<typeof LoadBalancerStatus>;

export const ServiceStatus = message("ServiceStatus", "Current status of a service.", {
  loadBalancer: embedded(1, LoadBalancerStatus, "Status of the load balancer."),
  conditions: optional(2, list(Condition), "Latest observed conditions, one for each type.", {
    ...patchMerge("type"),
    ...mapList("type"),
  }),
});
export type ServiceStatus = TypeOf<typeof ServiceStatus>;

export const Service = kind("Service", "A stable network endpoint that forwards traffic to a set of pods.", {
  metadata: embedded(1, ObjectMeta, "Standard object metadata."),
  spec: embedded(2, ServiceSpec, "Specification of the desired behavior of the service."),
  status: embedded(3, ServiceStatus, "Most recently observed status of the service."),
});
export type Service = TypeOf<typeof Service>;

export const EndpointAddress = message(
  "EndpointAddress",
  "An IP address of an endpoint.",
  {
    ip: required(1, string, "IP address of the endpoint."),
    hostname: optional(3, string, "Host name of the endpoint."),
    nodeName: pointer(4, string, "Name of the node that hosts the endpoint."),
    targetRef: optional(2, ObjectReference, "Object that provides the endpoint."),
  },
  { atomic: true },
);
export type EndpointAddress = TypeOf<typeof EndpointAddress>;

export const EndpointPort = message(
  "EndpointPort",
  "A port of an endpoint.",
  {
    name: optional(1, string, "Name of the port, which matches that of the service port."),
    port: required(2, int32, "Port number of the endpoint."),
    protocol: optional(3, Protocol, "Protocol of the port: UDP, TCP or SCTP.", {
      ...openEnum("SCTP", "TCP", "UDP"),
      ...hiddenDefault("TCP"),
    }),
    appProtocol: pointer(4, string, "Application protocol of the port, as a hint for implementations."),
  },
  { atomic: true },
);
export type EndpointPort = TypeOf<typeof EndpointPort>;

export const EndpointSubset = message(
  "EndpointSubset",
  "Addresses with a common set of ports; the endpoints are their Cartesian product.",
  {
    addresses: optional(1, list(EndpointAddress), "Addresses that are ready and can receive traffic."),
    notReadyAddresses: optional(
      2,
      list(EndpointAddress),
      "Addresses that are not ready, or whose pods are terminating.",
    ),
    ports: optional(3, list(EndpointPort), "Ports available on each of the addresses."),
  },
);
export type EndpointSubset = TypeOf<typeof EndpointSubset>;

export const Endpoints = kind("Endpoints", "Addresses and ports of the endpoints that implement a service.", {
  metadata: embedded(1, ObjectMeta, "Standard object metadata."),
  subsets: optional(2, list(EndpointSubset), "Sets of addresses that share the same ports."),
});
export type Endpoints = TypeOf<typeof Endpoints>;
