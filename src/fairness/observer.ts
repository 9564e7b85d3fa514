// Events of a queue set, for metrics and for borrowing.
import type { FairRequest, QueueRejection } from "./queue-set.ts";

export interface DispatchBounds {
  readonly min: number;
  readonly max: number;
  readonly discountedMin: number;
  readonly discountedMax: number;
}

export interface QueueSetObserver {
  limits(seats: number, waiting: number): void;
  /** A request joined a queue, which has this length now. */
  queued(request: FairRequest, length: number): void;
  /** A request started (1) or stopped (-1) waiting. */
  waiting(request: FairRequest, by: 1 | -1): void;
  started(request: FairRequest, waitedMilliseconds: number): void;
  finished(request: FairRequest, tookMilliseconds: number): void;
  rejected(request: FairRequest, why: QueueRejection, waitedMilliseconds: number): void;
  /** A request acquired this number of seats, or released them if negative. */
  seats(request: FairRequest, by: number): void;
  /** The sum of seats in use and requested. */
  demand(seats: number): void;
  notAccommodated(request: FairRequest): void;
  dispatchR(currentR: number, dispatchedR: number, bounds: DispatchBounds): void;
}
