// Rate limits for evicting pods from nodes that are not ready. A zone that loses many nodes at once has more
// likely lost its network than its machines: its rate is reduced, and with no ready node in the cluster
// nothing is evicted.
import type { Node } from "#api";
import type { Clock } from "#base";
import type { Dialect } from "#dialect";

export interface NodeEvictionSettings {
  /** Nodes per second whose pods are evicted, in each zone. */
  readonly nodeEvictionRate: number;
  /**
   * The reduced rate of a large zone with too many nodes that are not ready; in a small one evictions stop.
   */
  readonly secondaryNodeEvictionRate: number;
  /** A zone with more nodes than this is large. */
  readonly largeClusterSizeThreshold: number;
  /** The fraction of nodes that are not ready from which a zone counts as unhealthy. */
  readonly unhealthyZoneThreshold: number;
}

/** A zone with fewer nodes that are not ready is never rate limited. */
const minNotReadyNodes = 3;

interface Zone {
  ready: number;
  notReady: number;
  /** Eviction tokens, at most one. */
  tokens: number;
  refilledAt: number;
}

interface CountedNode {
  readonly zone: string;
  readonly isReady: boolean;
}

type CountableNode = Pick<Node, "metadata" | "status">;

/** Number of counted nodes of a zone. */
export interface ZoneHealth {
  readonly zone: string;
  readonly ready: number;
  readonly notReady: number;
}

export class NodeEvictions {
  readonly #clock: Clock;
  readonly #settings: NodeEvictionSettings;
  readonly #labels: Dialect["names"]["labels"];
  readonly #zones = new Map<string, Zone>();
  readonly #nodes = new Map<string, CountedNode>();

  constructor(clock: Clock, settings: NodeEvictionSettings, { names }: Dialect) {
    this.#clock = clock;
    this.#settings = settings;
    this.#labels = names.labels;
  }

  /** Records the current state of a node. Reports whether eviction rates changed. */
  observe(node: CountableNode): boolean {
    const name = node.metadata.name!;
    const labels = node.metadata.labels ?? {};
    const isReady = node.status.conditions?.find(({ type }) => type === "Ready")?.status === "True";
    const isCounted = labels[this.#labels.excludeFromDisruption] === undefined;
    const before = this.#nodes.get(name);
    const zone = this.zoneOf(node);
    if (isCounted && before && before.zone === zone && before.isReady === isReady) return false;
    return this.#change(() => {
      this.#remove(name);
      if (!isCounted) return;
      this.#nodes.set(name, { zone, isReady });
      const zoneState = this.#zones.getOrInsertComputed(zone, () => ({
        ready: 0,
        notReady: 0,
        tokens: 1,
        refilledAt: this.#clock.monotonic(),
      }));
      zoneState[isReady ? "ready" : "notReady"]++;
    });
  }

  forget(name: string): boolean {
    return this.#change(() => this.#remove(name));
  }

  /** Whether no node is ready, which suggests that the control plane is disconnected. */
  get stopped(): boolean {
    if (this.#zones.size === 0) return false;
    for (const { ready } of this.#zones.values()) if (ready > 0) return false;
    return true;
  }

  /** Returns the state of all zones with nodes. */
  *zones(): Iterable<ZoneHealth> {
    for (const [zone, { ready, notReady }] of this.#zones) yield { zone, ready, notReady };
  }

  /** Returns the milliseconds until the node's pods may be evicted. Zero consumes a token. */
  turn(node: CountableNode): number {
    const zone = this.#zones.get(this.zoneOf(node));
    if (!zone) return 0;
    if (this.stopped) return Infinity;
    this.#refill(zone);
    if (zone.tokens >= 1) {
      zone.tokens--;
      return 0;
    }
    return Math.ceil(((1 - zone.tokens) * 1000) / this.#rateOf(zone));
  }

  /** Returns the key of a node's zone as upstream metrics show it: zone names are unique within a region. */
  zoneOf({ metadata: { labels = {} } }: Pick<Node, "metadata">): string {
    const { betaRegion, betaZone } = this.#labels;
    const region = labels[this.#labels.region] ?? labels[betaRegion] ?? "";
    const zone = labels[this.#labels.zone] ?? labels[betaZone] ?? "";
    return region === "" && zone === "" ? "" : `${region}:\0:${zone}`;
  }

  #remove(name: string): void {
    const known = this.#nodes.get(name);
    const zone = known && this.#zones.get(known.zone);
    if (!zone) return;
    this.#nodes.delete(name);
    zone[known.isReady ? "ready" : "notReady"]--;
    if (zone.ready + zone.notReady === 0) this.#zones.delete(known.zone);
  }

  #change(change: () => void): boolean {
    const before = this.#rates();
    // Tokens up to now accrued at the old rate.
    for (const zone of this.#zones.values()) this.#refill(zone);
    change();
    return this.#rates() !== before;
  }

  #refill(zone: Zone): void {
    const now = this.#clock.monotonic();
    zone.tokens = Math.min(1, zone.tokens + ((now - zone.refilledAt) * this.#rateOf(zone)) / 1000);
    zone.refilledAt = now;
  }

  #rates(): string {
    return JSON.stringify([
      this.stopped,
      ...[...this.#zones].map(([name, zone]) => [name, this.#rateOf(zone)]),
    ]);
  }

  #rateOf({ ready, notReady }: Zone): number {
    const settings = this.#settings;
    const size = ready + notReady;
    const isUnhealthy =
      ready > 0 && notReady >= minNotReadyNodes && notReady / size >= settings.unhealthyZoneThreshold;
    if (!isUnhealthy) return settings.nodeEvictionRate;
    return size > settings.largeClusterSizeThreshold ? settings.secondaryNodeEvictionRate : 0;
  }
}
