// Network policies: the traffic allowed between pods.
import {
  type TypeOf,
  embedded,
  int32,
  intOrString,
  list,
  optional,
  pointer,
  required,
  string,
} from "#schema";
import { hiddenDefault, keepEmpty, mapList, openEnum, patchMerge } from "../extras.ts";
import { Condition } from "../meta/condition.ts";
import { EmptyKeepingLabelSelector } from "../meta/label-selector.ts";
import { ObjectMeta } from "../meta/object-meta.ts";
import { Protocol } from "../named-types.ts";
import { networking } from "../packages.ts";

const { message, kind, named } = networking;

export const NetworkPolicyPort = message("NetworkPolicyPort", "Ports that traffic may use.", {
  protocol: pointer(1, Protocol, "UDP, TCP or SCTP.", {
    ...openEnum("SCTP", "TCP", "UDP"),
    ...hiddenDefault("TCP"),
  }),
  port: pointer(2, intOrString, "Number or name of the port; all when unset."),
  endPort: pointer(3, int32, "Last port of a range that begins with port."),
});
export type NetworkPolicyPort = TypeOf<typeof NetworkPolicyPort>;

export const IPBlock = message("IPBlock", "A range of addresses.", {
  cidr: required(1, string, "The range."),
  except: optional(2, list(string), "Parts of it that are left out.", keepEmpty),
});
export type IPBlock = TypeOf<typeof IPBlock>;

export const NetworkPolicyPeer = message("NetworkPolicyPeer", "The other end of the traffic.", {
  podSelector: optional(
    1,
    EmptyKeepingLabelSelector,
    "Pods, in the policy's namespace or in those selected.",
  ),
  namespaceSelector: optional(
    2,
    EmptyKeepingLabelSelector,
    "Namespaces; all their pods unless pods are selected, too.",
  ),
  ipBlock: optional(3, IPBlock, "A range of addresses; stands alone."),
});
export type NetworkPolicyPeer = TypeOf<typeof NetworkPolicyPeer>;

export const NetworkPolicyIngressRule = message("NetworkPolicyIngressRule", "Traffic that is let in.", {
  ports: optional(1, list(NetworkPolicyPort), "On which ports; on all when empty.", keepEmpty),
  from: optional(2, list(NetworkPolicyPeer), "From whom; from everyone when empty.", keepEmpty),
});
export type NetworkPolicyIngressRule = TypeOf<typeof NetworkPolicyIngressRule>;

export const NetworkPolicyEgressRule = message("NetworkPolicyEgressRule", "Traffic that is let out.", {
  ports: optional(1, list(NetworkPolicyPort), "To which ports; to all when empty.", keepEmpty),
  to: optional(2, list(NetworkPolicyPeer), "To whom; to everyone when empty.", keepEmpty),
});
export type NetworkPolicyEgressRule = TypeOf<typeof NetworkPolicyEgressRule>;

export const NetworkPolicySpec = message("NetworkPolicySpec", "What traffic is let through.", {
  podSelector: embedded(1, EmptyKeepingLabelSelector, "Pods the policy is about.", { published: "required" }),
  ingress: optional(2, list(NetworkPolicyIngressRule), "What is let in.", keepEmpty),
  egress: optional(3, list(NetworkPolicyEgressRule), "What is let out.", keepEmpty),
  policyTypes: optional(
    4,
    list(named("PolicyType", string)),
    "Directions the policy is about: Ingress, Egress or both.",
    keepEmpty,
  ),
});
export type NetworkPolicySpec = TypeOf<typeof NetworkPolicySpec>;

export const NetworkPolicyStatus = message("NetworkPolicyStatus", "How a policy fares.", {
  conditions: optional(1, list(Condition), "The latest observations, one for each type.", {
    ...patchMerge("type"),
    ...mapList("type"),
  }),
});
export type NetworkPolicyStatus = TypeOf<typeof NetworkPolicyStatus>;

export const NetworkPolicy = kind("NetworkPolicy", "Lets only the named traffic reach or leave some pods.", {
  metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
  spec: embedded(2, NetworkPolicySpec, "What traffic is let through."),
  status: embedded(3, NetworkPolicyStatus, "How it fares."),
});
export type NetworkPolicy = TypeOf<typeof NetworkPolicy>;
