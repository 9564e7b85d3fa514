// Allocator of per-node ranges within a cluster CIDR: ranges are handed out in order and released when nodes
// are deleted.
import { formatIp, parseIp } from "#base";

/** Maximum number of bits by which an IPv6 node mask may exceed the cluster's mask. */
const maxIpv6MaskDifference = 16;

/** Receives the changes of a pool. */
export interface PoolObserver {
  /** Ranges became used; `tries` is how many used ones were passed over, if one was handed out. */
  allocated(count: number, tries?: number): void;
  released(count: number): void;
  /** Number of used ranges, after every change. */
  usage(used: number): void;
}

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
  /** How many hold each used range: nodes may have been given overlapping ranges by others. */
  readonly #used = new Map<number, number>();
  readonly #observer: PoolObserver | undefined;
  #next = 0;

  constructor(clusterCidr: string, maskSize: number, observer?: PoolObserver) {
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
    this.#observer = observer;
  }

  /** Number of ranges, used or not. */
  get size(): number {
    return this.#count;
  }

  /** Allocates the next free range; returns undefined if all are taken. */
  take(): string | undefined {
    if (this.#used.size >= this.#count) return undefined;
    let tries = 0;
    for (; this.#used.has(this.#next); tries++) this.#next = (this.#next + 1) % this.#count;
    const index = this.#next;
    this.#used.set(index, 1);
    this.#observer?.allocated(1, tries);
    this.#observer?.usage(this.#used.size);
    this.#next = (index + 1) % this.#count;
    const first = this.#cluster.first + BigInt(index) * this.#rangeSize;
    return `${addressOf(first, this.#cluster.width)}/${this.#maskSize}`;
  }

  /** Counts one more holder of every range that overlaps the given CIDR, of any size. */
  occupy(cidr: string): void {
    const before = this.#used.size;
    for (const index of this.#indexesIn(cidr)) this.#used.set(index, (this.#used.get(index) ?? 0) + 1);
    this.#observer?.allocated(this.#used.size - before);
    this.#observer?.usage(this.#used.size);
  }

  /** Counts one holder less; ranges without any are free. */
  release(cidr: string): void {
    const before = this.#used.size;
    for (const index of this.#indexesIn(cidr)) {
      const holders = (this.#used.get(index) ?? 0) - 1;
      if (holders > 0) this.#used.set(index, holders);
      else this.#used.delete(index);
    }
    this.#observer?.released(before - this.#used.size);
    this.#observer?.usage(this.#used.size);
  }

  get #rangeSize(): bigint {
    return 1n << BigInt(this.#cluster.width - this.#maskSize);
  }

  *#indexesIn(cidr: string): Iterable<number> {
    const { first, last, width } = this.#cluster;
    const block = blockOf(cidr);
    if (!block || block.width !== width || block.last < first || block.first > last) return;
    const from = block.first > first ? Number((block.first - first) / this.#rangeSize) : 0;
    const to = block.last < last ? Number((block.last - first) / this.#rangeSize) : this.#count - 1;
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
