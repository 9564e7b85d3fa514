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
  /** The CIDRs that are occupied for each node, by its uid, from the moment they are written. */
  const held = new Map<string, readonly string[]>();
  const hold = (uid: string, cidrs: readonly string[]): void => {
    const before = held.get(uid) ?? [];
    if (before.join() === cidrs.join()) return;
    release(before);
    cidrs.forEach((cidr, index) => pools[index]?.occupy(cidr));
    held.set(uid, cidrs);
  };
  const free = (uid: string): void => {
    release(held.get(uid) ?? []);
    held.delete(uid);
  };
  const queue = queueFor(context, "node_ipam", sync, { workers: 1 });
  const nodes = view.follow(kinds.nodes, ({ type, object }) => {
    const { podCIDRs = [] } = object.spec;
    const { name, uid } = object.metadata;
    if (type === "deleted") free(uid!);
    else if (podCIDRs.length > 0) hold(uid!, podCIDRs);
    else if (!held.has(uid!)) queue.add(name!);
  });
  return { stopped: queue.stopped };

  async function sync(name: string): Promise<void> {
    const node = nodes.get(undefined, name);
    if (!node || node.spec.podCIDRs?.length || held.has(node.metadata.uid!)) return;
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
      held.set(node.metadata.uid!, podCIDRs);
      await patchObject(client.of(kinds.nodes), node, patch, { type: "strategic" });
    } catch (error) {
      // Unless the node was deleted, or was given others meanwhile.
      if (held.get(node.metadata.uid!) === podCIDRs) free(node.metadata.uid!);
      if (isNotFound(error)) return;
      throw error;
    }
  }
}
