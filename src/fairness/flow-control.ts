// API priority and fairness (KEP-1040, as in kube-apiserver 1.27): flow schemas assign requests to priority
// levels, levels share the server's seats and lend them to each other, and within a level, flows take turns.
import type { FlowSchema } from "#api";
import type { Clock, Metrics } from "#base";
import { allocate, allocateScarce } from "./allocation.ts";
import { inOrder, schemaMatcher } from "./classifier.ts";
import { type FlowMetrics, type SchemaMetrics, flowMetrics } from "./flow-metrics.ts";
import { PriorityLevel, type LevelSpec, type NamedLevel } from "./level.ts";
import { type FairRequest, type FlowIdentity, type QueueRejection, workOf } from "./queue-set.ts";
import type { RequestDigest } from "./request-digest.ts";
import { flowHash } from "./shuffle-shard.ts";
import { WatchTracker } from "./watch-tracker.ts";
import { type WorkEstimate, type WorkFacts, estimateWork } from "./work-estimate.ts";

export type SchemaSpec = FlowSchema["spec"];

export interface NamedSchema {
  readonly name: string;
  readonly uid: string;
  readonly spec: SchemaSpec;
}

export interface FlowControlOptions {
  readonly clock: Clock;
  readonly metrics: Metrics;
  /** The seats of the whole server. */
  readonly serverSeats: number;
  /** Maximum time in a queue. */
  readonly maxWaitMilliseconds: number;
  readonly objectCount: WorkFacts["objectCount"];
  /** Configuration that is in effect even if no object defines it. */
  readonly mandatory: {
    readonly levels: Readonly<Record<string, LevelSpec>>;
    readonly schemas: Readonly<Record<string, SchemaSpec>>;
  };
}

/** A flow schema in effect. */
export interface Flow extends FlowIdentity {
  readonly uid: string;
  readonly level: PriorityLevel;
  /** False for an exempt level without shares. */
  readonly takesSeats: boolean;
  readonly matches: (request: RequestDigest) => boolean;
  readonly distinguish: (request: RequestDigest) => string;
}

/** Seats held by a request. */
export interface Seats {
  readonly admitted: true;
  release(): void;
}
export type Admission = Seats | { readonly admitted: false; readonly why: QueueRejection };

const borrowingMilliseconds = 10_000;
const catchAll = "catch-all";

export class FlowControl {
  readonly watches = new WatchTracker();
  readonly metrics: FlowMetrics;
  readonly #options: FlowControlOptions;
  readonly #facts: WorkFacts;
  readonly #levels = new Map<string, PriorityLevel>();
  readonly #schemaMetrics = new Map<string, SchemaMetrics>();
  #flows: readonly Flow[] = [];
  #fallback: Flow | undefined;
  #nominalSum = 0;

  constructor(options: FlowControlOptions) {
    this.#options = options;
    this.metrics = flowMetrics(options.metrics, () => options.clock.monotonic());
    this.#facts = {
      objectCount: options.objectCount,
      watchCount: (request) => this.watches.interested(request),
    };
    this.configure([], []);
  }

  get levels(): readonly PriorityLevel[] {
    return [...this.#levels.values()];
  }

  /** Applies the objects; missing mandatory ones are added. Running requests continue. */
  configure(levels: readonly NamedLevel[], schemas: readonly NamedSchema[]): void {
    const { mandatory } = this.#options;
    const wanted = new Map(withMandatory(levels, mandatory.levels).map((level) => [level.name, level]));
    for (const level of wanted.values()) this.#setLevel(level);
    for (const [name, level] of this.#levels) {
      if (wanted.has(name)) continue;
      level.quiescing = true;
      if (!level.queues || level.queues.isIdle) this.#removeLevel(level);
    }
    this.#flows = inOrder(withMandatory(schemas, mandatory.schemas)).flatMap((schema) =>
      this.#flowOf(schema, wanted),
    );
    this.#fallback = this.#flows.find(({ name }) => name === catchAll);
    this.#share();
  }

  /** Returns the flow schema of a request, the first that matches. */
  classify(request: RequestDigest): Flow {
    for (const flow of this.#flows) if (flow.matches(request)) return flow;
    return this.#fallback!;
  }

  /** Estimates the seats of a request. */
  estimate({ level }: Flow, request: RequestDigest): WorkEstimate {
    return estimateWork(request, this.#facts, level.maxRequestSeats);
  }

  /** Acquires seats for a request, immediately if available. */
  start(flow: Flow, request: RequestDigest, signal: () => AbortSignal): Admission | Promise<Admission> {
    const { level } = flow;
    const { queues } = level;
    if (!queues) return noSeats;
    const estimate = this.estimate(flow, request);
    const fair: FairRequest = {
      flow,
      distinguisher: flow.distinguish(request),
      digest: request,
      estimate,
      maxSeats: Math.max(estimate.initialSeats, estimate.finalSeats),
      work: workOf(estimate),
      arrivedAt: 0,
      arrivalTime: this.#options.clock.now(),
      arrivedR: 0,
      startedAt: 0,
      queue: undefined,
      decide: undefined,
    };
    flow.metrics.estimatedSeats.observe(fair.maxSeats);
    const outcome = queues.start(fair, flowHash(flow.name, fair.distinguisher), signal);
    if (typeof outcome === "string") return this.#admission(outcome, level, fair);
    return outcome.then((settled) => this.#admission(settled, level, fair));
  }

  /** Periodically rebalances seats between levels by their demand, until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    await new Promise<void>((resolve) => {
      let cancel = (): void => undefined;
      const again = (): void => {
        this.rebalance();
        cancel = this.#options.clock.after(borrowingMilliseconds, again);
      };
      cancel = this.#options.clock.after(borrowingMilliseconds, again);
      signal.addEventListener(
        "abort",
        () => {
          cancel();
          resolve();
        },
        { once: true },
      );
    });
  }

  rebalance(): void {
    const counted = this.levels.filter(({ queues }) => queues !== undefined);
    for (const level of counted) level.takeDemand();
    const exempt = counted.filter(({ isExempt }) => isExempt);
    const limited = counted.filter(({ isExempt }) => !isExempt);
    const claims = limited.map(({ minSeats, nominalSeats, maxSeats, highWatermark, smoothedDemand }) => {
      const lower = Math.max(minSeats, Math.min(nominalSeats, highWatermark));
      return { lower, upper: maxSeats, target: Math.max(lower, smoothedDemand) };
    });
    let remaining = this.#nominalSum;
    for (const level of exempt) {
      const seats = Math.max(level.minSeats, level.highWatermark);
      remaining -= seats;
      level.setCurrentSeats(seats);
    }
    const least = limited.map(({ minSeats }) => minSeats);
    const allocation =
      (exempt.length > 0 ? allocateScarce(remaining, least, claims) : undefined) ??
      allocate(this.#nominalSum, claims);
    limited.forEach((level, index) => {
      level.metrics.target.set(claims[index]!.target);
      level.setCurrentSeats(Math.round(allocation?.seats[index] ?? level.currentSeats));
    });
    if (allocation) this.metrics.fairFraction(allocation.fairFraction);
  }

  #setLevel({ name, uid, spec }: NamedLevel): void {
    let level = this.#levels.get(name);
    if (!level) {
      const { clock, maxWaitMilliseconds } = this.#options;
      level = new PriorityLevel(
        { name, uid, spec },
        { clock, maxWaitMilliseconds, metrics: this.metrics.level(name) },
      );
      this.#levels.set(name, level);
    }
    level.uid = uid;
    level.spec = spec;
    level.quiescing = false;
  }

  #removeLevel(level: PriorityLevel): void {
    if (this.#levels.delete(level.name)) level.metrics.remove();
  }

  #flowOf({ name, uid, spec }: NamedSchema, wanted: ReadonlyMap<string, NamedLevel>): Flow[] {
    const levelName = spec.priorityLevelConfiguration.name;
    const level = wanted.has(levelName) ? this.#levels.get(levelName) : undefined;
    // A schema whose level does not exist is not in effect.
    if (!level) return [];
    const key = `${name} ${levelName}`;
    const metrics = this.#schemaMetrics.get(key) ?? this.metrics.schema(name, levelName);
    if (this.#schemaMetrics.size < 1024) this.#schemaMetrics.set(key, metrics);
    const method = spec.distinguisherMethod?.type;
    return [
      {
        name,
        uid,
        level,
        metrics,
        takesSeats: (level.spec.limited ?? level.spec.exempt) !== undefined,
        matches: schemaMatcher(spec),
        distinguish:
          method === "ByUser"
            ? ({ userName }) => userName
            : method === "ByNamespace"
              ? ({ namespace }) => namespace
              : () => "",
      },
    ];
  }

  /**
   * Divides the server's seats by the shares of the levels, including levels that only finish their requests.
   */
  #share(): void {
    const shareSum = this.levels.reduce((sum, { shares }) => sum + shares, 0);
    for (const level of this.#levels.values()) level.setShare(this.#options.serverSeats, shareSum);
    this.#nominalSum = this.levels.reduce(
      (sum, { queues, nominalSeats }) => sum + (queues ? nominalSeats : 0),
      0,
    );
    this.rebalance();
  }

  #admission(outcome: "execute" | QueueRejection, level: PriorityLevel, request: FairRequest): Admission {
    if (outcome !== "execute") {
      this.#reap(level);
      return { admitted: false, why: outcome };
    }
    return {
      admitted: true,
      release: () => {
        level.queues?.finish(request);
        this.#reap(level);
      },
    };
  }

  #reap(level: PriorityLevel): void {
    if (!level.quiescing || !level.queues?.isIdle) return;
    this.#removeLevel(level);
    this.#share();
  }
}

const noSeats: Seats = { admitted: true, release: () => undefined };

/** Adds the missing mandatory objects. */
function withMandatory<S>(
  objects: readonly { readonly name: string; readonly uid: string; readonly spec: S }[],
  mandatory: Readonly<Record<string, S>>,
): { readonly name: string; readonly uid: string; readonly spec: S }[] {
  const names = new Set(objects.map(({ name }) => name));
  const missing = Object.entries(mandatory).filter(([name]) => !names.has(name));
  return [...objects, ...missing.map(([name, spec]) => ({ name, uid: "", spec }))];
}
