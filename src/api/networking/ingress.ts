// Ingresses: HTTP routes into the cluster.
import { type TypeOf, embedded, inline, int32, list, optional, pointer, required, string } from "#schema";
import { TypedLocalObjectReference } from "../core/reference.ts";
import { hiddenDefault, openEnum, atomicList } from "../extras.ts";
import { ObjectMeta } from "../meta/object-meta.ts";
import { Protocol } from "../named-types.ts";
import { networking } from "../packages.ts";

const { message, kind, named } = networking;

export const ServiceBackendPort = message("ServiceBackendPort", "A port of a service; one is set.", {
  name: optional(1, string, "Its name."),
  number: optional(2, int32, "Its number."),
});
export type ServiceBackendPort = TypeOf<typeof ServiceBackendPort>;

export const IngressServiceBackend = message("IngressServiceBackend", "A service that requests go to.", {
  name: required(1, string, "Name of the service, in the same namespace."),
  port: embedded(2, ServiceBackendPort, "Port of the service."),
});
export type IngressServiceBackend = TypeOf<typeof IngressServiceBackend>;

export const IngressBackend = message("IngressBackend", "Where requests go; one is set.", {
  service: optional(4, IngressServiceBackend, "A service."),
  resource: optional(3, TypedLocalObjectReference, "Another object in the same namespace."),
});
export type IngressBackend = TypeOf<typeof IngressBackend>;

export const HTTPIngressPath = message("HTTPIngressPath", "Requests of some paths.", {
  path: optional(1, string, "The path, or its beginning."),
  pathType: required(
    3,
    named("PathType", string),
    "How to compare: Exact, Prefix or ImplementationSpecific.",
    {
      ...openEnum("Exact", "ImplementationSpecific", "Prefix"),
      nullable: true,
    },
  ),
  backend: embedded(2, IngressBackend, "Where they go.", { published: "required" }),
});
export type HTTPIngressPath = TypeOf<typeof HTTPIngressPath>;

export const HTTPIngressRuleValue = message("HTTPIngressRuleValue", "Requests by path.", {
  paths: required(1, list(HTTPIngressPath), "The paths.", atomicList),
});
export type HTTPIngressRuleValue = TypeOf<typeof HTTPIngressRuleValue>;

export const IngressRuleValue = message("IngressRuleValue", "What a rule does.", {
  http: optional(1, HTTPIngressRuleValue, "Sends HTTP requests on by path.", { undescribed: true }),
});
export type IngressRuleValue = TypeOf<typeof IngressRuleValue>;

export const IngressRule = message("IngressRule", "Requests for one host.", {
  host: optional(1, string, "Name of the host; *. at the beginning stands for one label; any when empty."),
  ingressRuleValue: inline(2, IngressRuleValue),
});
export type IngressRule = TypeOf<typeof IngressRule>;

export const IngressTLS = message("IngressTLS", "TLS for some hosts.", {
  hosts: optional(1, list(string), "The hosts.", atomicList),
  secretName: optional(2, string, "Secret with certificate and key."),
});
export type IngressTLS = TypeOf<typeof IngressTLS>;

export const IngressSpec = message("IngressSpec", "How requests come in.", {
  ingressClassName: pointer(4, string, "Class of the controller that serves it."),
  defaultBackend: optional(1, IngressBackend, "Where requests go that no rule matches."),
  tls: optional(2, list(IngressTLS), "TLS settings.", atomicList),
  rules: optional(3, list(IngressRule), "Rules by host.", atomicList),
});
export type IngressSpec = TypeOf<typeof IngressSpec>;

export const IngressPortStatus = message("IngressPortStatus", "How one port of the load balancer fares.", {
  port: required(1, int32, "The port."),
  protocol: required(2, Protocol, "UDP, TCP or SCTP.", openEnum("SCTP", "TCP", "UDP")),
  error: pointer(3, string, "What is wrong with it, in one word."),
});
export type IngressPortStatus = TypeOf<typeof IngressPortStatus>;

export const IngressLoadBalancerIngress = message("IngressLoadBalancerIngress", "One way in.", {
  ip: optional(1, string, "Address of the load balancer."),
  hostname: optional(2, string, "Name of the load balancer."),
  ports: optional(4, list(IngressPortStatus), "How its ports fare.", atomicList),
});
export type IngressLoadBalancerIngress = TypeOf<typeof IngressLoadBalancerIngress>;

export const IngressLoadBalancerStatus = message(
  "IngressLoadBalancerStatus",
  "What the load balancer reports.",
  {
    ingress: optional(1, list(IngressLoadBalancerIngress), "Ways in."),
  },
);
export type IngressLoadBalancerStatus = TypeOf<typeof IngressLoadBalancerStatus>;

export const IngressStatus = message("IngressStatus", "What is known about an ingress.", {
  loadBalancer: embedded(1, IngressLoadBalancerStatus, "What the load balancer reports."),
});
export type IngressStatus = TypeOf<typeof IngressStatus>;

export const Ingress = kind("Ingress", "Leads HTTP requests from outside to services.", {
  metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
  spec: embedded(2, IngressSpec, "How requests come in."),
  status: embedded(3, IngressStatus, "What is known about it."),
});
export type Ingress = TypeOf<typeof Ingress>;

export const IngressClassParametersReference = message(
  "IngressClassParametersReference",
  "An object with further settings.",
  {
    apiGroup: pointer(1, string, "Group of the object; unset for the core group."),
    kind: required(2, string, "Kind of the object."),
    name: required(3, string, "Name of the object."),
    scope: required(4, string, "Cluster or Namespace.", {
      ...hiddenDefault("Cluster"),
      nullable: true,
      published: "optional",
    }),
    namespace: pointer(5, string, "Namespace of the object, for scope Namespace."),
  },
);
export type IngressClassParametersReference = TypeOf<typeof IngressClassParametersReference>;

export const IngressClassSpec = message("IngressClassSpec", "Who serves the class.", {
  controller: optional(1, string, "Name of the controller."),
  parameters: optional(2, IngressClassParametersReference, "Further settings."),
});
export type IngressClassSpec = TypeOf<typeof IngressClassSpec>;

export const IngressClass = kind("IngressClass", "A sort of ingress, and who serves it.", {
  metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
  spec: embedded(2, IngressClassSpec, "Who serves it."),
});
export type IngressClass = TypeOf<typeof IngressClass>;
