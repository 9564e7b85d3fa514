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

export const NetworkPolicyPort = message(
  "NetworkPolicyPort",
  "A port or a range of ports to allow traffic on.",
  {
    protocol: pointer(1, Protocol, "Protocol of the port: UDP, TCP or SCTP.", {
      ...openEnum("SCTP", "TCP", "UDP"),
      ...hiddenDefault("TCP"),
    }),
    port: pointer(2, intOrString, "Number or name of the port; all ports if unset."),
    endPort: pointer(3, int32, "Last port of a range that begins with port; requires a numeric port."),
  },
);
export type NetworkPolicyPort = TypeOf<typeof NetworkPolicyPort>;

export const IPBlock = message("IPBlock", "A CIDR of peers, with exceptions.", {
  cidr: required(1, string, "CIDR of the block."),
  except: optional(2, list(string), "CIDRs within the block that are excluded.", keepEmpty),
});
export type IPBlock = TypeOf<typeof IPBlock>;

export const NetworkPolicyPeer = message("NetworkPolicyPeer", "A peer that traffic is allowed from or to.", {
  podSelector: optional(
    1,
    EmptyKeepingLabelSelector,
    "Pods in the policy's namespace, or in those matched by namespaceSelector; empty selects all pods.",
  ),
  namespaceSelector: optional(
    2,
    EmptyKeepingLabelSelector,
    "Namespaces of the peers, all of whose pods are selected unless podSelector is set.",
  ),
  ipBlock: optional(3, IPBlock, "IP block of the peers; must not be combined with the selectors."),
});
export type NetworkPolicyPeer = TypeOf<typeof NetworkPolicyPeer>;

export const NetworkPolicyIngressRule = message(
  "NetworkPolicyIngressRule",
  "Allows traffic that matches both ports and from.",
  {
    ports: optional(1, list(NetworkPolicyPort), "Destination ports to allow; all ports if empty.", keepEmpty),
    from: optional(
      2,
      list(NetworkPolicyPeer),
      "Sources to allow, which are ORed; all sources if empty.",
      keepEmpty,
    ),
  },
);
export type NetworkPolicyIngressRule = TypeOf<typeof NetworkPolicyIngressRule>;

export const NetworkPolicyEgressRule = message(
  "NetworkPolicyEgressRule",
  "Allows traffic that matches both ports and to.",
  {
    ports: optional(1, list(NetworkPolicyPort), "Destination ports to allow; all ports if empty.", keepEmpty),
    to: optional(
      2,
      list(NetworkPolicyPeer),
      "Destinations to allow, which are ORed; all destinations if empty.",
      keepEmpty,
    ),
  },
);
export type NetworkPolicyEgressRule = TypeOf<typeof NetworkPolicyEgressRule>;

export const NetworkPolicySpec = message("NetworkPolicySpec", "Specification of a network policy.", {
  podSelector: embedded(
    1,
    EmptyKeepingLabelSelector,
    "Pods that the policy applies to; empty selects all pods of the namespace.",
    { published: "required" },
  ),
  ingress: optional(
    2,
    list(NetworkPolicyIngressRule),
    "Ingress rules; traffic is allowed if any rule of any policy for the pod matches it.",
    keepEmpty,
  ),
  egress: optional(
    3,
    list(NetworkPolicyEgressRule),
    "Egress rules; traffic is allowed if any rule of any policy for the pod matches it.",
    keepEmpty,
  ),
  policyTypes: optional(
    4,
    list(named("PolicyType", string)),
    "Directions the policy restricts, Ingress or Egress; defaults to Ingress, and Egress if there " +
      "are such rules.",
    keepEmpty,
  ),
});
export type NetworkPolicySpec = TypeOf<typeof NetworkPolicySpec>;

export const NetworkPolicyStatus = message("NetworkPolicyStatus", "Current status of a network policy.", {
  conditions: optional(1, list(Condition), "Latest observed conditions, one for each type.", {
    ...patchMerge("type"),
    ...mapList("type"),
  }),
});
export type NetworkPolicyStatus = TypeOf<typeof NetworkPolicyStatus>;

export const NetworkPolicy = kind(
  "NetworkPolicy",
  "Restricts the network traffic that is allowed for a set of pods.",
  {
    metadata: embedded(1, ObjectMeta, "Standard object metadata."),
    spec: embedded(2, NetworkPolicySpec, "Specification of the desired behavior of the policy."),
    status: embedded(3, NetworkPolicyStatus, "Current status of the policy."),
  },
);
export type NetworkPolicy = TypeOf<typeof NetworkPolicy>;
