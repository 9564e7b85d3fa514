// Allocates pod CIDRs to nodes, one per configured cluster CIDR.
import { kinds } from "#client";
import { measuredPools } from "./cidr-metrics.ts";
import {
  type Controller,
  type ControllerContext,
  isNotFound,
  patchObject,
  queueFor,
  recorderFor,
} from "#controllerkit";

export interface NodeIpamSettings {
  /** Cluster CIDRs such as 10.128.0.0/9: one, or one per IP family. */
  readonly clusterCidrs: readonly string[];
  /** Mask size of a node's CIDR, by IP family. */
  readonly nodeMaskSizes: { readonly ipv4: number; readonly ipv6: number };
  /** Service CIDRs, which are excluded from allocation. */
  readonly serviceCidrs: readonly string[];
}

export const defaultNodeMaskSizes = { ipv4: 24, ipv6: 64 };

export function nodeIpamController(context: ControllerContext, settings: NodeIpamSettings): Controller {
  const { client, view } = context;
  const events = recorderFor(context, "cidrAllocator");
  const { ipv4, ipv6 } = settings.nodeMaskSizes;
  const poolOf = measuredPools(context.metrics);
  const pools = settings.clusterCidrs.map((cidr) => poolOf(cidr, cidr.includes(":") ? ipv6 : ipv4));
  for (const pool of pools) for (const cidr of settings.serviceCidrs) pool.occupy(cidr);
  const release = (cidrs: readonly string[]): void =>
    cidrs.forEach((cidr, index) => pools[index]?.release(cidr));
  /** CIDRs written to a node, by its uid, until the informer observes them. */
  const assigned = new Map<string, readonly string[]>();
  const queue = queueFor(context, "node_ipam", sync, { workers: 1 });
  const nodes = view.follow(kinds.nodes, ({ type, object }) => {
    const podCIDRs = object.spec.podCIDRs ?? [];
    const { name, uid } = object.metadata;
    const pending = assigned.get(uid!);
    const isAssigned = podCIDRs.length > 0;
    if (type === "deleted" || isAssigned) assigned.delete(uid!);
    if (type === "deleted") release(isAssigned ? podCIDRs : (pending ?? []));
    else if (isAssigned) podCIDRs.forEach((cidr, index) => pools[index]?.occupy(cidr));
    else if (pending === undefined) queue.add(name!);
  });
  return { stopped: queue.stopped };

  async function sync(name: string): Promise<void> {
    const node = nodes.get(undefined, name);
    if (!node || node.spec.podCIDRs?.length || assigned.has(node.metadata.uid!)) return;
    const podCIDRs: string[] = [];
    for (const pool of pools) {
      const cidr = pool.take();
      if (cidr === undefined) {
        release(podCIDRs);
        const text = `Node ${name} status is now: CIDRNotAvailable`;
        events.event(node, "Normal", "CIDRNotAvailable", text);
        throw new Error("no free node CIDR left");
      }
      podCIDRs.push(cidr);
    }
    try {
      const patch = { spec: { podCIDR: podCIDRs[0]!, podCIDRs } };
      assigned.set(node.metadata.uid!, podCIDRs);
      await patchObject(client.of(kinds.nodes), node, patch, { type: "strategic" });
    } catch (error) {
      if (assigned.delete(node.metadata.uid!)) release(podCIDRs);
      if (isNotFound(error)) return;
      throw error;
    }
  }
}
