// What a queue set tells about itself, for metrics and for borrowing.
import type { FairRequest, QueueRejection } from "./queue-set.ts";

export interface DispatchBounds {
  readonly min: number;
  readonly max: number;
  readonly discountedMin: number;
  readonly discountedMax: number;
}

export interface QueueSetObserver {
  limits(seats: number, waiting: number): void;
  /** A request joined a queue that has this length now. */
  queued(request: FairRequest, length: number): void;
  /** A request began (1) or stopped (-1) waiting. */
  waiting(request: FairRequest, by: 1 | -1): void;
  started(request: FairRequest, waitedMilliseconds: number): void;
  finished(request: FairRequest, tookMilliseconds: number): void;
  rejected(request: FairRequest, why: QueueRejection, waitedMilliseconds: number): void;
  /** Seats that a request takes, or gives back when negative. */
  seats(request: FairRequest, by: number): void;
  /** Seats in use and asked for. */
  demand(seats: number): void;
  notAccommodated(request: FairRequest): void;
  dispatchR(currentR: number, dispatchedR: number, bounds: DispatchBounds): void;
}
