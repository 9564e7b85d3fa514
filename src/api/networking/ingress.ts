// Ingresses: HTTP routes into the cluster.
import { type TypeOf, embedded, inline, int32, list, optional, pointer, required, string } from "#schema";
import { TypedLocalObjectReference } from "../core/reference.ts";
import { hiddenDefault, openEnum, atomicList } from "../extras.ts";
import { ObjectMeta } from "../meta/object-meta.ts";
import { Protocol } from "../named-types.ts";
import { networking } from "../packages.ts";

const { message, kind, named } = networking;

export const ServiceBackendPort = message(
  "ServiceBackendPort",
  "A port of a service; exactly one member is set.",
  {
    name: optional(1, string, "Name of the port."),
    number: optional(2, int32, "Port number."),
  },
);
export type ServiceBackendPort = TypeOf<typeof ServiceBackendPort>;

export const IngressServiceBackend = message(
  "IngressServiceBackend",
  "A service that traffic is forwarded to.",
  {
    name: required(1, string, "Name of the service, in the namespace of the ingress."),
    port: embedded(2, ServiceBackendPort, "Port of the service."),
  },
);
export type IngressServiceBackend = TypeOf<typeof IngressServiceBackend>;

export const IngressBackend = message(
  "IngressBackend",
  "Backend that traffic is forwarded to; exactly one member is set.",
  {
    service: optional(4, IngressServiceBackend, "Service to forward the traffic to."),
    resource: optional(
      3,
      TypedLocalObjectReference,
      "Other object in the namespace of the ingress that handles the traffic.",
    ),
  },
);
export type IngressBackend = TypeOf<typeof IngressBackend>;

export const HTTPIngressPath = message("HTTPIngressPath", "Associates a path with a backend.", {
  path: optional(1, string, "Path that is matched against the path of the request; must begin with a slash."),
  pathType: required(
    3,
    named("PathType", string),
    "How the path is matched: Exact, Prefix by path elements, or ImplementationSpecific.",
    {
      ...openEnum("Exact", "ImplementationSpecific", "Prefix"),
      nullable: true,
    },
  ),
  backend: embedded(2, IngressBackend, "Backend to which matching traffic is forwarded.", {
    published: "required",
  }),
});
export type HTTPIngressPath = TypeOf<typeof HTTPIngressPath>;

export const HTTPIngressRuleValue = message(
  "HTTPIngressRuleValue",
  "List of paths and their backends, for HTTP traffic.",
  {
    paths: required(
      1,
      list(HTTPIngressPath),
      "Paths and the backends to which matching traffic is forwarded.",
      atomicList,
    ),
  },
);
export type HTTPIngressRuleValue = TypeOf<typeof HTTPIngressRuleValue>;

export const IngressRuleValue = message("IngressRuleValue", "How the traffic of a rule is handled.", {
  http: optional(
    1,
    HTTPIngressRuleValue,
    "Paths and backends for HTTP traffic; if unset, all traffic goes to the default backend.",
    { undescribed: true },
  ),
});
export type IngressRuleValue = TypeOf<typeof IngressRuleValue>;

export const IngressRule = message("IngressRule", "Maps the paths of a host to backends.", {
  host: optional(
    1,
    string,
    "Host name, possibly with a wildcard *. as its first label; if empty, all hosts are matched.",
  ),
  ingressRuleValue: inline(2, IngressRuleValue),
});
export type IngressRule = TypeOf<typeof IngressRule>;

export const IngressTLS = message("IngressTLS", "Transport layer security of a set of hosts.", {
  hosts: optional(1, list(string), "Hosts included in the TLS certificate.", atomicList),
  secretName: optional(
    2,
    string,
    "Name of the secret with certificate and private key, for TLS termination.",
  ),
});
export type IngressTLS = TypeOf<typeof IngressTLS>;

export const IngressSpec = message("IngressSpec", "Specification of an ingress.", {
  ingressClassName: pointer(
    4,
    string,
    "Name of the ingress class, which determines the controller that implements the ingress.",
  ),
  defaultBackend: optional(1, IngressBackend, "Backend for requests that match no rule."),
  tls: optional(2, list(IngressTLS), "TLS configuration.", atomicList),
  rules: optional(
    3,
    list(IngressRule),
    "Host rules; if none is given, all traffic goes to the default backend.",
    atomicList,
  ),
});
export type IngressSpec = TypeOf<typeof IngressSpec>;

export const IngressPortStatus = message("IngressPortStatus", "Status of a port of a load balancer.", {
  port: required(1, int32, "Port number of the ingress."),
  protocol: required(2, Protocol, "Protocol of the port: UDP, TCP or SCTP.", openEnum("SCTP", "TCP", "UDP")),
  error: pointer(3, string, "Machine-readable problem with the port."),
});
export type IngressPortStatus = TypeOf<typeof IngressPortStatus>;

export const IngressLoadBalancerIngress = message(
  "IngressLoadBalancerIngress",
  "An ingress point of a load balancer.",
  {
    ip: optional(1, string, "IP address of the ingress point, for IP-based load balancers."),
    hostname: optional(2, string, "Host name of the ingress point, for DNS-based load balancers."),
    ports: optional(
      4,
      list(IngressPortStatus),
      "Statuses of the ports exposed by the ingress point.",
      atomicList,
    ),
  },
);
export type IngressLoadBalancerIngress = TypeOf<typeof IngressLoadBalancerIngress>;

export const IngressLoadBalancerStatus = message(
  "IngressLoadBalancerStatus",
  "Status of the load balancer.",
  {
    ingress: optional(1, list(IngressLoadBalancerIngress), "Ingress points of the load balancer."),
  },
);
export type IngressLoadBalancerStatus = TypeOf<typeof IngressLoadBalancerStatus>;

export const IngressStatus = message("IngressStatus", "Current status of an ingress.", {
  loadBalancer: embedded(1, IngressLoadBalancerStatus, "Status of the load balancer."),
});
export type IngressStatus = TypeOf<typeof IngressStatus>;

export const Ingress = kind(
  "Ingress",
  "Rules by which external HTTP traffic reaches services of the cluster.",
  {
    metadata: embedded(1, ObjectMeta, "Standard object metadata."),
    spec: embedded(2, IngressSpec, "Specification of the desired behavior of the ingress."),
    status: embedded(3, IngressStatus, "Current status of the ingress."),
  },
);
export type Ingress = TypeOf<typeof Ingress>;

export const IngressClassParametersReference = message(
  "IngressClassParametersReference",
  "Reference to an object with parameters of an ingress class.",
  {
    apiGroup: pointer(1, string, "Group of the object; unset for the core group."),
    kind: required(2, string, "Kind of the object."),
    name: required(3, string, "Name of the object."),
    scope: required(4, string, "Scope of the object: Cluster (default) or Namespace.", {
      ...hiddenDefault("Cluster"),
      nullable: true,
      published: "optional",
    }),
    namespace: pointer(5, string, "Namespace of the object; required if the scope is Namespace."),
  },
);
export type IngressClassParametersReference = TypeOf<typeof IngressClassParametersReference>;

export const IngressClassSpec = message("IngressClassSpec", "Specification of an ingress class.", {
  controller: optional(
    1,
    string,
    "Name of the controller that handles ingresses of the class, in the form domain/path; immutable.",
  ),
  parameters: optional(
    2,
    IngressClassParametersReference,
    "Object with additional configuration for the controller.",
  ),
});
export type IngressClassSpec = TypeOf<typeof IngressClassSpec>;

export const IngressClass = kind("IngressClass", "A class of ingresses, implemented by a controller.", {
  metadata: embedded(1, ObjectMeta, "Standard object metadata."),
  spec: embedded(2, IngressClassSpec, "Specification of the ingress class."),
});
export type IngressClass = TypeOf<typeof IngressClass>;
