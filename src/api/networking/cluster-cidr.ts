// Cluster CIDRs: address ranges from which nodes get their pod CIDRs.
import { type TypeOf, embedded, int32, optional, required, string } from "#schema";
import { NodeSelector } from "../core/affinity.ts";
import { ObjectMeta } from "../meta/object-meta.ts";
import { networkingV1alpha1 } from "../packages.ts";

const { message, kind } = networkingV1alpha1;

export const ClusterCIDRSpec = message("ClusterCIDRSpec", "Specification of a cluster CIDR.", {
  nodeSelector: optional(1, NodeSelector, "Nodes that the CIDRs apply to; all nodes if unset."),
  perNodeHostBits: required(2, int32, "Number of host bits of each node's pod CIDR."),
  ipv4: required(3, string, "IPv4 block that pod CIDRs are allocated from.", { published: "optional" }),
  ipv6: required(4, string, "IPv6 block that pod CIDRs are allocated from.", { published: "optional" }),
});
export type ClusterCIDRSpec = TypeOf<typeof ClusterCIDRSpec>;

export const ClusterCIDR = kind("ClusterCIDR", "CIDRs from which nodes are allocated their pod CIDRs.", {
  metadata: embedded(1, ObjectMeta, "Standard object metadata."),
  spec: embedded(2, ClusterCIDRSpec, "Specification of the cluster CIDR."),
});
export type ClusterCIDR = TypeOf<typeof ClusterCIDR>;
