// Settings of node CIDR allocation, from the flags of the controller manager.
import { type NodeIpamSettings, defaultNodeMaskSizes } from "#controllers";
import type { ManagerSettings } from "./control-options.ts";

type IpamFlags = Pick<
  ManagerSettings,
  | "clusterCidr"
  | "nodeCidrMaskSize"
  | "nodeCidrMaskSizeIpv4"
  | "nodeCidrMaskSizeIpv6"
  | "serviceClusterIpRange"
>;

/** Validates the flags like the original; throws if they exclude each other. */
export function nodeIpamSettings(values: IpamFlags): NodeIpamSettings {
  const { clusterCidr: clusterCidrs, serviceClusterIpRange: serviceCidrs } = values;
  if (clusterCidrs.length === 0) throw new Error("--allocate-node-cidrs requires --cluster-cidr");
  checkFamilies("--cluster-cidr", clusterCidrs);
  checkFamilies("--service-cluster-ip-range", serviceCidrs);
  return { clusterCidrs, serviceCidrs, nodeMaskSizes: maskSizes(values) };
}

const isIpv6 = (cidr: string): boolean => cidr.includes(":");

function checkFamilies(flag: string, cidrs: readonly string[]): void {
  if (cidrs.length > 2 || (cidrs.length === 2 && isIpv6(cidrs[0]!) === isIpv6(cidrs[1]!)))
    throw new Error(`${flag} accepts one range, or one per IP family`);
}

/** Returns the mask sizes; 0 stands for the default. */
function maskSizes(values: IpamFlags): NodeIpamSettings["nodeMaskSizes"] {
  const { nodeCidrMaskSize: both, nodeCidrMaskSizeIpv4: ipv4, nodeCidrMaskSizeIpv6: ipv6 } = values;
  const [first, ...second] = values.clusterCidr;
  if (both !== 0 && second.length > 0)
    throw new Error("--node-cidr-mask-size cannot be used with ranges of both families");
  if (both !== 0 && ipv4 + ipv6 !== 0)
    throw new Error("--node-cidr-mask-size cannot be combined with a mask size of one family");
  if (both !== 0) return { ipv4: both, ipv6: both };
  if (second.length === 0 && (isIpv6(first!) ? ipv4 : ipv6) !== 0)
    throw new Error(
      `--node-cidr-mask-size-${isIpv6(first!) ? "ipv4" : "ipv6"} is for an IP family without a cluster CIDR`,
    );
  return { ipv4: ipv4 || defaultNodeMaskSizes.ipv4, ipv6: ipv6 || defaultNodeMaskSizes.ipv6 };
}
