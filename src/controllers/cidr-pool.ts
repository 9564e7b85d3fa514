// Allocator of per-node ranges within a cluster CIDR: ranges are handed out in order and released when nodes
// are deleted.
import { formatIp, parseIp } from "#base";

/** Maximum number of bits by which an IPv6 node mask may exceed the cluster's mask. */
const maxIpv6MaskDifference = 16;

interface Block {
  readonly first: bigint;
  readonly last: bigint;
  readonly bits: number;
  /** Address width in bits: 32 or 128. */
  readonly width: number;
}

export class CidrPool {
  readonly #cluster: Block;
  readonly #maskSize: number;
  readonly #count: number;
  readonly #used = new Set<number>();
  #next = 0;

  constructor(clusterCidr: string, maskSize: number) {
    const cluster = blockOf(clusterCidr);
    const difference = maskSize - (cluster?.bits ?? 0);
    if (!cluster || difference < 0 || maskSize > cluster.width)
      throw new Error(`cluster range ${clusterCidr} has no room for node CIDRs of /${maskSize}`);
    if (cluster.width === 128 && difference > maxIpv6MaskDifference)
      throw new Error(
        `cluster range ${clusterCidr} has too many node CIDRs of /${maskSize}: at most ${maxIpv6MaskDifference} bits more`,
      );
    this.#cluster = cluster;
    this.#maskSize = maskSize;
    this.#count = 2 ** difference;
  }

  /** Allocates the next free range; returns undefined if all are taken. */
  take(): string | undefined {
    if (this.#used.size >= this.#count) return undefined;
    while (this.#used.has(this.#next)) this.#next = (this.#next + 1) % this.#count;
    const index = this.#next;
    this.#used.add(index);
    this.#next = (index + 1) % this.#count;
    const first = this.#cluster.first + BigInt(index) * this.#size;
    return `${addressOf(first, this.#cluster.width)}/${this.#maskSize}`;
  }

  /** Marks every range that overlaps the given CIDR, of any size, as used. */
  occupy(cidr: string): void {
    for (const index of this.#indexesIn(cidr)) this.#used.add(index);
  }

  release(cidr: string): void {
    for (const index of this.#indexesIn(cidr)) this.#used.delete(index);
  }

  get #size(): bigint {
    return 1n << BigInt(this.#cluster.width - this.#maskSize);
  }

  *#indexesIn(cidr: string): Iterable<number> {
    const { first, last, width } = this.#cluster;
    const block = blockOf(cidr);
    if (!block || block.width !== width || block.last < first || block.first > last) return;
    const from = block.first > first ? Number((block.first - first) / this.#size) : 0;
    const to = block.last < last ? Number((block.last - first) / this.#size) : this.#count - 1;
    for (let index = from; index <= to; index++) yield index;
  }
}

function blockOf(cidr: string): Block | undefined {
  const [address = "", bitsText = ""] = cidr.split("/");
  const bytes = parseIp(address);
  const bits = Number(bitsText);
  if (!bytes || !/^\d{1,3}$/.test(bitsText) || bits > bytes.length * 8) return undefined;
  const width = bytes.length * 8;
  const rest = BigInt(width - bits);
  const first = (BigInt(`0x${Buffer.from(bytes).toString("hex")}`) >> rest) << rest;
  return { first, last: first + (1n << rest) - 1n, bits, width };
}

const addressOf = (value: bigint, width: number): string =>
  formatIp(Buffer.from(value.toString(16).padStart(width / 4, "0"), "hex"));
