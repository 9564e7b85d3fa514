// The queues of one priority level: fair queuing for server requests (KEP-1040). Each queue has a virtual
// time R at which its next request would be dispatched if every queue had an equal share of the seats; the
// request that would finish first is dispatched first. Without queues, requests beyond the limit are rejected
// immediately.
//
//   queue 3   nextR 10.2   [request of 1 seat] [request of 4 seats] ...
//   queue 7   nextR 10.9   [request of 1 seat]                          -> queue 3 is dispatched from next
import type { Clock } from "#base";
import type { SchemaMetrics } from "./flow-metrics.ts";
import { dealHand } from "./shuffle-shard.ts";
import type { QueueSetObserver } from "./observer.ts";
import type { RequestDigest } from "./request-digest.ts";
import type { WorkEstimate } from "./work-estimate.ts";

export interface QueueSetConfig {
  /** Requests are executed immediately, whatever the limit. */
  readonly unlimited: boolean;
  /** With 0 queues, requests beyond the limit are rejected immediately. */
  readonly queues: number;
  readonly handSize: number;
  readonly queueLengthLimit: number;
}

export type QueueRejection = "concurrency-limit" | "queue-full" | "time-out" | "cancelled";

export interface Queue {
  readonly index: number;
  readonly requests: FairRequest[];
  /** Virtual time in seat-milliseconds. */
  nextDispatchR: number;
  executing: number;
  seatsInUse: number;
  initialSeatsSum: number;
  maxSeatsSum: number;
  workSum: number;
}

/** The flow schema of a request. */
export interface FlowIdentity {
  readonly name: string;
  readonly metrics: SchemaMetrics;
}

/** A classified request, until its seats are released. */
export interface FairRequest {
  readonly flow: FlowIdentity;
  readonly distinguisher: string;
  readonly digest: RequestDigest;
  readonly estimate: WorkEstimate;
  readonly maxSeats: number;
  readonly work: number;
  /** By the monotonic clock. */
  arrivedAt: number;
  /** Milliseconds since the epoch. */
  readonly arrivalTime: number;
  arrivedR: number;
  startedAt: number;
  queue: Queue | undefined;
  /** Ends the wait in a queue. */
  decide: ((outcome: "execute" | QueueRejection) => void) | undefined;
}

/** Estimated service time until it is known, in milliseconds. */
const estimatedMilliseconds = 3;

export class QueueSet {
  readonly queues: Queue[] = [];
  waiting = 0;
  executing = 0;
  seatsInUse = 0;
  dispatched = 0;
  rejected = 0;
  timedOut = 0;
  cancelled = 0;
  readonly #clock: Clock;
  readonly #maxWaitMilliseconds: number;
  readonly #observer: QueueSetObserver;
  readonly #hand: number[] = [];
  readonly #nonEmpty = new Set<Queue>();
  #config: QueueSetConfig;
  #limit = 0;
  #seatsWaiting = 0;
  /** Number of queues with a waiting or executing request. */
  #activeQueues = 0;
  #enqueued = 0;
  #currentR = 0;
  #syncedAt: number;

  constructor(
    config: QueueSetConfig,
    options: {
      readonly clock: Clock;
      readonly maxWaitMilliseconds: number;
      readonly observer: QueueSetObserver;
    },
  ) {
    this.#clock = options.clock;
    this.#maxWaitMilliseconds = options.maxWaitMilliseconds;
    this.#observer = options.observer;
    this.#config = config;
    this.#syncedAt = this.#clock.monotonic();
    this.#addQueues();
  }

  get currentR(): number {
    return this.#currentR;
  }

  get isIdle(): boolean {
    return this.waiting === 0 && this.executing === 0;
  }

  /** Applies a configuration. Queues are added immediately; surplus ones are removed when they are empty. */
  configure(config: QueueSetConfig, limit: number): void {
    this.#syncTime(this.#clock.monotonic());
    this.#config = config;
    this.#limit = limit;
    this.#addQueues();
    this.#dropSpareQueues();
    this.#observer.limits(limit, Math.max(1, config.queueLengthLimit) * Math.max(1, config.queues));
    this.#dispatchAll();
  }

  /**
   * Returns "execute" immediately, or a promise if the request is queued. Call `finish` after an "execute".
   */
  start(
    request: FairRequest,
    hash: number,
    signal: () => AbortSignal,
  ): "execute" | QueueRejection | Promise<"execute" | QueueRejection> {
    const now = this.#clock.monotonic();
    this.#syncTime(now);
    request.arrivedAt = now;
    request.arrivedR = this.#currentR;
    if (this.#config.queues < 1) {
      if (!this.#config.unlimited && !this.#fits(request.maxSeats))
        return this.#reject(request, "concurrency-limit");
      this.#execute(request, now);
      return "execute";
    }
    const queue = this.#chooseQueue(hash);
    request.queue = queue;
    if (this.waiting === 0 && this.seatsInUse < this.#limit && this.#fits(request.maxSeats)) {
      this.#activate(queue);
      this.#observer.queued(request, 1);
      queue.nextDispatchR += request.work;
      this.#execute(request, now);
      return "execute";
    }
    if (this.seatsInUse >= this.#limit && queue.requests.length >= this.#config.queueLengthLimit) {
      request.queue = undefined;
      return this.#reject(request, "queue-full");
    }
    return this.#wait(request, queue, signal());
  }

  /** Called when the request was served; its seats are released now or after the additional time. */
  finish(request: FairRequest): void {
    const now = this.#clock.monotonic();
    this.#syncTime(now);
    const { queue, estimate } = request;
    this.executing--;
    this.#observer.finished(request, now - request.startedAt);
    if (queue) {
      queue.executing--;
      const surplus = estimatedMilliseconds - (now - request.startedAt);
      queue.nextDispatchR -= estimate.initialSeats * surplus;
      this.#boundNextDispatch(queue);
      if (queue.executing === 0 && queue.requests.length === 0) this.#activeQueues--;
    }
    if (estimate.additionalMilliseconds > 0) {
      this.#clock.after(estimate.additionalMilliseconds, () => {
        this.#syncTime(this.#clock.monotonic());
        this.#release(request);
      });
    } else this.#release(request);
  }

  #release(request: FairRequest): void {
    this.seatsInUse -= request.maxSeats;
    if (request.queue) request.queue.seatsInUse -= request.maxSeats;
    this.#observer.seats(request, -request.maxSeats);
    this.#reportDemand();
    this.#dropSpareQueues();
    this.#dispatchAll();
  }

  #wait(request: FairRequest, queue: Queue, signal: AbortSignal): Promise<"execute" | QueueRejection> {
    this.#activate(queue);
    queue.requests.push(request);
    this.#nonEmpty.add(queue);
    this.#count(request, queue, 1);
    this.#observer.queued(request, queue.requests.length);
    return new Promise((resolve) => {
      const leave = (why: QueueRejection): void => {
        this.#syncTime(this.#clock.monotonic());
        if (!this.#dequeue(request, queue)) return;
        this.#deactivate(queue);
        this.#boundNextDispatch(queue);
        request.decide?.(this.#reject(request, why));
      };
      const abort = (): void => leave("cancelled");
      const cancelTimer = this.#clock.after(this.#maxWaitMilliseconds, () => leave("time-out"));
      request.decide = (outcome) => {
        request.decide = undefined;
        cancelTimer();
        signal.removeEventListener("abort", abort);
        resolve(outcome);
      };
      signal.addEventListener("abort", abort, { once: true });
      if (signal.aborted) abort();
      else this.#dispatchAll();
    });
  }

  #dequeue(request: FairRequest, queue: Queue): boolean {
    const at = queue.requests.indexOf(request);
    if (at < 0) return false;
    queue.requests.splice(at, 1);
    if (queue.requests.length === 0) this.#nonEmpty.delete(queue);
    this.#count(request, queue, -1);
    return true;
  }

  /** Updates the counts for a request that started (1) or stopped (-1) waiting. */
  #count(request: FairRequest, queue: Queue, by: 1 | -1): void {
    this.waiting += by;
    this.#seatsWaiting += by * request.maxSeats;
    queue.initialSeatsSum += by * request.estimate.initialSeats;
    queue.maxSeatsSum += by * request.maxSeats;
    queue.workSum += by * request.work;
    this.#observer.waiting(request, by);
    this.#reportDemand();
  }

  #dispatchAll(): void {
    while (this.waiting > 0 && this.seatsInUse < this.#limit && this.#dispatchOne());
  }

  /** Dispatches the request that would finish first, unless it has to wait for seats. */
  #dispatchOne(): boolean {
    let best: Queue | undefined;
    let bestFinish = Infinity;
    let [lowest, highest, lowestDiscounted, highestDiscounted] = [Infinity, -Infinity, Infinity, -Infinity];
    for (const queue of this.#nonEmpty) {
      const finish = queue.nextDispatchR + queue.requests[0]!.work;
      const discounted = queue.nextDispatchR - queue.seatsInUse * estimatedMilliseconds;
      lowest = Math.min(lowest, queue.nextDispatchR);
      highest = Math.max(highest, queue.nextDispatchR);
      lowestDiscounted = Math.min(lowestDiscounted, discounted);
      highestDiscounted = Math.max(highestDiscounted, discounted);
      if (finish < bestFinish) [best, bestFinish] = [queue, finish];
    }
    const request = best?.requests[0];
    if (!best || !request) return false;
    if (!this.#fits(request.maxSeats)) {
      this.#observer.notAccommodated(request);
      return false;
    }
    this.#dequeue(request, best);
    // Among equal queues, the one served last is considered last.
    if (this.#nonEmpty.delete(best)) this.#nonEmpty.add(best);
    this.#observer.dispatchR(this.#currentR, best.nextDispatchR, {
      min: lowest,
      max: highest,
      discountedMin: lowestDiscounted,
      discountedMax: highestDiscounted,
    });
    best.nextDispatchR += request.work;
    this.#execute(request, this.#clock.monotonic());
    this.#boundNextDispatch(best);
    request.decide?.("execute");
    return true;
  }

  #execute(request: FairRequest, now: number): void {
    request.startedAt = now;
    this.dispatched++;
    this.executing++;
    this.seatsInUse += request.maxSeats;
    if (request.queue) {
      request.queue.executing++;
      request.queue.seatsInUse += request.maxSeats;
    }
    this.#observer.started(request, now - request.arrivedAt);
    this.#observer.seats(request, request.maxSeats);
    this.#reportDemand();
  }

  #reject(request: FairRequest, why: QueueRejection): QueueRejection {
    this.rejected++;
    if (why === "time-out") this.timedOut++;
    if (why === "cancelled") this.cancelled++;
    this.#observer.rejected(request, why, this.#clock.monotonic() - request.arrivedAt);
    return why;
  }

  /** Reports whether the seats are free. A request larger than the limit is executed when it is alone. */
  #fits(seats: number): boolean {
    return seats > this.#limit ? this.executing === 0 : this.seatsInUse + seats <= this.#limit;
  }

  #chooseQueue(hash: number): Queue {
    const { queues, handSize } = this.#config;
    dealHand(hash, queues, handSize, this.#hand);
    // Rotate the starting point, so that equally loaded queues take turns.
    const offset = this.#enqueued++ % handSize;
    let best: Queue | undefined;
    for (let dealt = 0; dealt < handSize; dealt++) {
      const queue = this.queues[this.#hand[(offset + dealt) % handSize]!]!;
      if (!best || queue.workSum < best.workSum) best = queue;
    }
    return best!;
  }

  #activate(queue: Queue): void {
    if (queue.requests.length > 0 || queue.executing > 0) return;
    queue.nextDispatchR = this.#currentR;
    this.#activeQueues++;
  }

  #deactivate(queue: Queue): void {
    if (queue.requests.length === 0 && queue.executing === 0) this.#activeQueues--;
  }

  /**
   * A queue that used less than its share must not accumulate credit: no dispatch time precedes the arrival.
   */
  #boundNextDispatch(queue: Queue): void {
    const oldest = queue.requests[0];
    if (oldest && queue.nextDispatchR < oldest.arrivedR) queue.nextDispatchR = oldest.arrivedR;
  }

  /** Advances virtual time by the seats that each active queue gets. */
  #syncTime(now: number): void {
    const elapsed = now - this.#syncedAt;
    if (elapsed <= 0) return;
    this.#syncedAt = now;
    if (this.#activeQueues === 0) return;
    const seats = Math.min(this.seatsInUse + this.#seatsWaiting, this.#limit);
    this.#currentR += (elapsed * seats) / this.#activeQueues;
  }

  #reportDemand(): void {
    this.#observer.demand(this.seatsInUse + this.#seatsWaiting);
  }

  #addQueues(): void {
    while (this.queues.length < this.#config.queues)
      this.queues.push({
        index: this.queues.length,
        requests: [],
        nextDispatchR: 0,
        executing: 0,
        seatsInUse: 0,
        initialSeatsSum: 0,
        maxSeatsSum: 0,
        workSum: 0,
      });
  }

  #dropSpareQueues(): void {
    for (
      let last = this.queues.at(-1);
      last && this.queues.length > this.#config.queues;
      last = this.queues.at(-1)
    ) {
      if (last.requests.length > 0 || last.executing > 0 || last.seatsInUse > 0) return;
      this.queues.pop();
    }
  }
}

/** The estimated work of a request, in seat-milliseconds. */
export const workOf = ({ initialSeats, finalSeats, additionalMilliseconds }: WorkEstimate): number =>
  initialSeats * estimatedMilliseconds + finalSeats * additionalMilliseconds;
