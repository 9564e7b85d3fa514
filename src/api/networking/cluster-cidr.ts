// Cluster CIDRs: address ranges from which nodes get their pod CIDRs.
import { type TypeOf, embedded, int32, optional, required, string } from "#schema";
import { NodeSelector } from "../core/affinity.ts";
import { ObjectMeta } from "../meta/object-meta.ts";
import { networkingV1alpha1 } from "../packages.ts";

const { message, kind } = networkingV1alpha1;

export const ClusterCIDRSpec = message("ClusterCIDRSpec", "Blocks of addresses, and for which nodes.", {
  nodeSelector: optional(1, NodeSelector, "The nodes; all of them without a selector."),
  perNodeHostBits: required(2, int32, "How many bits of the addresses a node has for its pods."),
  ipv4: required(3, string, "The IPv4 block.", { published: "optional" }),
  ipv6: required(4, string, "The IPv6 block.", { published: "optional" }),
});
export type ClusterCIDRSpec = TypeOf<typeof ClusterCIDRSpec>;

export const ClusterCIDR = kind("ClusterCIDR", "Where nodes get the addresses of their pods from.", {
  metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
  spec: embedded(2, ClusterCIDRSpec, "The blocks."),
});
export type ClusterCIDR = TypeOf<typeof ClusterCIDR>;
