// Settings of node CIDR allocation, from the flags of the controller manager.
import { type NodeIpamSettings, usualNodeMaskSizes } from "#controllers";
import type { ManagerSettings } from "./control-options.ts";

type Given = Pick<
  ManagerSettings,
  | "clusterCidr"
  | "nodeCidrMaskSize"
  | "nodeCidrMaskSizeIpv4"
  | "nodeCidrMaskSizeIpv6"
  | "serviceClusterIpRange"
>;

/** Validates the flags like the original; throws if they exclude each other. */
export function nodeIpamSettings(values: Given): NodeIpamSettings {
  const { clusterCidr: clusterCidrs, serviceClusterIpRange: serviceCidrs } = values;
  if (clusterCidrs.length === 0) throw new Error("--allocate-node-cidrs needs --cluster-cidr");
  checkFamilies("--cluster-cidr", clusterCidrs);
  checkFamilies("--service-cluster-ip-range", serviceCidrs);
  return { clusterCidrs, serviceCidrs, nodeMaskSizes: maskSizes(values) };
}

const isIpv6 = (cidr: string): boolean => cidr.includes(":");

function checkFamilies(flag: string, cidrs: readonly string[]): void {
  if (cidrs.length > 2 || (cidrs.length === 2 && isIpv6(cidrs[0]!) === isIpv6(cidrs[1]!)))
    throw new Error(`${flag} may have one range, or one of each family`);
}

/** Returns the mask sizes; 0 stands for the default. */
function maskSizes(values: Given): NodeIpamSettings["nodeMaskSizes"] {
  const { nodeCidrMaskSize: both, nodeCidrMaskSizeIpv4: ipv4, nodeCidrMaskSizeIpv6: ipv6 } = values;
  const [first, ...second] = values.clusterCidr;
  if (both !== 0 && second.length > 0)
    throw new Error("--node-cidr-mask-size cannot be used with ranges of both families");
  if (both !== 0 && ipv4 + ipv6 !== 0)
    throw new Error("--node-cidr-mask-size cannot be used with those of one family");
  if (both !== 0) return { ipv4: both, ipv6: both };
  if (second.length === 0 && (isIpv6(first!) ? ipv4 : ipv6) !== 0)
    throw new Error(
      `--node-cidr-mask-size-${isIpv6(first!) ? "ipv4" : "ipv6"} is of a family without a range`,
    );
  return { ipv4: ipv4 || usualNodeMaskSizes.ipv4, ipv6: ipv6 || usualNodeMaskSizes.ipv6 };
}
