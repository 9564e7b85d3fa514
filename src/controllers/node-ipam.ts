// Gives every node a range of addresses for its pods.
import { kinds } from "#client";
import {
  type Controller,
  type ControllerContext,
  isNotFound,
  patchObject,
  queueFor,
  recorderFor,
} from "#controllerkit";

export interface NodeIpamSettings {
  /** The range of the whole cluster, such as 10.128.0.0/9. */
  readonly clusterCidr: string;
  /** Bits of a node's range. */
  readonly nodeMaskSize: number;
}

const numberOf = (address: string): number =>
  address.split(".").reduce((total, part) => total * 256 + Number(part), 0);
const addressOf = (value: number): string =>
  [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join(".");

/** The ranges of nodes within that of the cluster: handed out in order, given back when nodes go. */
export class CidrPool {
  readonly #base: number;
  readonly #size: number;
  readonly #maskSize: number;
  readonly #count: number;
  readonly #used = new Set<number>();
  #next = 0;

  constructor({ clusterCidr, nodeMaskSize }: NodeIpamSettings) {
    const found = /^(\d{1,3}(?:\.\d{1,3}){3})\/(\d{1,2})$/.exec(clusterCidr);
    const bits = Number(found?.[2]);
    if (!found || bits > nodeMaskSize || nodeMaskSize > 30)
      throw new Error(`cluster range ${clusterCidr} has no room for ranges of /${nodeMaskSize}`);
    this.#size = 2 ** (32 - nodeMaskSize);
    this.#base = Math.floor(numberOf(found[1]!) / 2 ** (32 - bits)) * 2 ** (32 - bits);
    this.#maskSize = nodeMaskSize;
    this.#count = 2 ** (nodeMaskSize - bits);
  }

  /** Undefined when all are taken. */
  take(): string | undefined {
    if (this.#used.size >= this.#count) return undefined;
    while (this.#used.has(this.#next)) this.#next = (this.#next + 1) % this.#count;
    const index = this.#next;
    this.#used.add(index);
    this.#next = (index + 1) % this.#count;
    return `${addressOf(this.#base + index * this.#size)}/${this.#maskSize}`;
  }

  occupy(cidr: string): void {
    const index = this.#indexOf(cidr);
    if (index !== undefined) this.#used.add(index);
  }

  release(cidr: string): void {
    const index = this.#indexOf(cidr);
    if (index !== undefined) this.#used.delete(index);
  }

  #indexOf(cidr: string): number | undefined {
    const [address = "", bits] = cidr.split("/");
    if (Number(bits) !== this.#maskSize || address.includes(":")) return undefined;
    const index = (numberOf(address) - this.#base) / this.#size;
    return Number.isInteger(index) && index >= 0 && index < this.#count ? index : undefined;
  }
}

export function nodeIpamController(context: ControllerContext, settings: NodeIpamSettings): Controller {
  const { client, view } = context;
  const events = recorderFor(context, "cidrAllocator");
  const pool = new CidrPool(settings);
  /** Ranges that were written, by the node's uid, until the node is seen with them. */
  const assigned = new Map<string, string>();
  const queue = queueFor(context, "node_ipam", sync, { workers: 1 });
  const nodes = view.follow(kinds.nodes, ({ type, object }) => {
    const { podCIDR } = object.spec;
    const { name, uid } = object.metadata;
    const given = assigned.get(uid!);
    if (type === "deleted" || podCIDR) assigned.delete(uid!);
    if (type === "deleted") {
      if (podCIDR ?? given) pool.release((podCIDR ?? given)!);
    } else if (podCIDR) pool.occupy(podCIDR);
    else if (given === undefined) queue.add(name!);
  });
  return { stopped: queue.stopped };

  async function sync(name: string): Promise<void> {
    const node = nodes.get(undefined, name);
    if (!node || node.spec.podCIDR || assigned.has(node.metadata.uid!)) return;
    const podCIDR = pool.take();
    if (podCIDR === undefined) {
      const text = `Node ${name} status is now: CIDRNotAvailable`;
      events.event(node, "Normal", "CIDRNotAvailable", text);
      throw new Error("all address ranges of nodes are taken");
    }
    try {
      const patch = { spec: { podCIDR, podCIDRs: [podCIDR] } };
      assigned.set(node.metadata.uid!, podCIDR);
      await patchObject(client.of(kinds.nodes), node, patch, { type: "strategic" });
    } catch (error) {
      if (assigned.delete(node.metadata.uid!)) pool.release(podCIDR);
      if (isNotFound(error)) return;
      throw error;
    }
  }
}
