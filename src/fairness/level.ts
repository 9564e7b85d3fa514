// A priority level in effect: its limits, its queues and their metrics.
import type { PriorityLevelConfiguration } from "#api";
import type { Clock } from "#base";
import type { LevelMetrics } from "./flow-metrics.ts";
import type { QueueSetObserver } from "./observer.ts";
import { QueueSet, type QueueSetConfig } from "./queue-set.ts";
import { SeatDemand, smoothed } from "./seat-demand.ts";

export type LevelSpec = PriorityLevelConfiguration["spec"];

export interface NamedLevel {
  readonly name: string;
  readonly uid: string;
  readonly spec: LevelSpec;
}

/** Maximum fraction of a level's seats that one request may take. */
const maxSeatsShare = 0.15;

export class PriorityLevel {
  readonly name: string;
  uid = "";
  spec: LevelSpec;
  /** Undefined for an exempt level without shares, as in releases before 1.28. */
  queues: QueueSet | undefined;
  /** Removed from the configuration, but still serving requests. */
  quiescing = false;
  nominalSeats = 0;
  minSeats = 0;
  maxSeats = 0;
  currentSeats = 0;
  /** Maximum seats of one request; 0 if the level sets no limit. */
  maxRequestSeats = 0;
  smoothedDemand = 0;
  highWatermark = 0;
  readonly metrics: LevelMetrics;
  readonly #clock: Clock;
  readonly #maxWaitMilliseconds: number;
  readonly #demand: SeatDemand;

  constructor(
    { name, spec }: NamedLevel,
    options: { readonly clock: Clock; readonly metrics: LevelMetrics; readonly maxWaitMilliseconds: number },
  ) {
    this.name = name;
    this.spec = spec;
    this.metrics = options.metrics;
    this.#clock = options.clock;
    this.#maxWaitMilliseconds = options.maxWaitMilliseconds;
    this.#demand = new SeatDemand(options.clock.monotonic());
  }

  get shares(): number {
    const { limited, exempt } = this.spec;
    return (limited ?? exempt)?.nominalConcurrencyShares ?? 0;
  }

  /** Whether requests are not limited. Their seats are counted if the level has shares. */
  get isExempt(): boolean {
    return this.spec.type === "Exempt";
  }

  /** Computes the limits from the server's seats and the shares of all levels. */
  setShare(serverSeats: number, shareSum: number): void {
    const { limited, exempt } = this.spec;
    const shares = limited ?? exempt;
    if (!shares) {
      this.queues = undefined;
      return;
    }
    const { borrowingLimitPercent, limitResponse } = limited ?? {};
    const { lendablePercent } = shares;
    const nominal = Math.ceil((serverSeats * this.shares) / shareSum) || 0;
    const lendable = Math.round((nominal * (lendablePercent ?? 0)) / 100);
    const borrowable =
      borrowingLimitPercent === undefined || borrowingLimitPercent === null
        ? serverSeats
        : Math.round((nominal * borrowingLimitPercent) / 100);
    this.nominalSeats = nominal;
    this.minSeats = nominal - lendable;
    this.maxSeats = nominal + borrowable;
    const queuing = limitResponse?.type === "Queue" ? limitResponse.queuing : undefined;
    this.maxRequestSeats = queuing
      ? Math.max(
          1,
          Math.min(Math.ceil(nominal * maxSeatsShare), Math.floor(nominal / (queuing.handSize ?? 1))),
        )
      : 0;
    if (!this.queues) {
      this.currentSeats = nominal - Math.floor(lendable / 2);
      this.queues = new QueueSet(this.#queueConfig(), {
        clock: this.#clock,
        maxWaitMilliseconds: this.#maxWaitMilliseconds,
        observer: levelObserver(this.metrics, (seats) => this.#demand.set(seats, this.#clock.monotonic())),
      });
    }
    this.metrics.nominal.set(nominal);
    this.metrics.limit.set(nominal);
    this.metrics.lower.set(this.minSeats);
    this.metrics.upper.set(this.maxSeats);
    this.metrics.ratios.demand.setLimit(nominal);
  }

  /** Updates the smoothed demand with that of the last period. */
  takeDemand(): void {
    const summary = this.#demand.reset(this.#clock.monotonic());
    this.highWatermark = Math.round(summary.highWatermark);
    this.smoothedDemand = smoothed(this.smoothedDemand, summary);
    this.metrics.recordDemand(summary, this.smoothedDemand);
  }

  setCurrentSeats(seats: number): void {
    this.currentSeats = seats;
    this.metrics.currentLimit.set(seats);
    this.queues?.configure(this.#queueConfig(), seats);
    this.metrics.currentR.set((this.queues?.currentR ?? 0) / 1000);
  }

  #queueConfig(): QueueSetConfig {
    const response = this.spec.limited?.limitResponse;
    const queuing = response?.type === "Queue" ? response.queuing : undefined;
    return {
      unlimited: this.isExempt,
      queues: queuing?.queues ?? 0,
      handSize: queuing?.handSize ?? 1,
      queueLengthLimit: queuing?.queueLengthLimit ?? 0,
    };
  }
}

function levelObserver(metrics: LevelMetrics, demand: (seats: number) => void): QueueSetObserver {
  const { ratios } = metrics;
  return {
    limits: (seats, waiting) => {
      ratios.executing.setLimit(seats);
      ratios.seats.setLimit(seats);
      ratios.waiting.setLimit(waiting);
    },
    queued: ({ flow }, length) => flow.metrics.queueLength.observe(length),
    waiting: ({ flow }, by) => {
      flow.metrics.inQueue.add(by);
      ratios.waiting.add(by);
    },
    started: ({ flow }, waited) => {
      flow.metrics.waited.observe(waited / 1000);
      flow.metrics.dispatched.add();
      flow.metrics.executing.add(1);
      ratios.executing.add(1);
    },
    finished: ({ flow, digest }, took) => {
      if (digest.verb === "watch") flow.metrics.watchTook(took / 1000);
      else flow.metrics.took.observe(took / 1000);
      flow.metrics.executing.add(-1);
      ratios.executing.add(-1);
    },
    rejected: ({ flow }, why, waited) => {
      flow.metrics.rejected(why);
      flow.metrics.waitedRejected(waited / 1000);
    },
    seats: ({ flow }, by) => {
      flow.metrics.seatsInUse.add(by);
      ratios.seats.add(by);
    },
    demand: (seats) => {
      demand(seats);
      ratios.demand.set(seats);
    },
    notAccommodated: ({ flow }) => flow.metrics.notAccommodated(),
    dispatchR: (currentR, dispatchedR, { min, max, discountedMin, discountedMax }) => {
      metrics.dispatchR.set(currentR / 1000);
      metrics.latestS.set(dispatchedR / 1000);
      metrics.bounds[0].set(min / 1000);
      metrics.bounds[1].set(max / 1000);
      metrics.discounted[0].set(discountedMin / 1000);
      metrics.discounted[1].set(discountedMax / 1000);
    },
  };
}
