// State of an evaluation: variables and accumulated cost.

import type { Value } from "./values.ts";

/** The evaluation exceeded its cost limit. Unlike other errors, no operator absorbs it. */
export class CostExceeded extends Error {
  override readonly name = "CostExceeded";
  constructor() {
    super("operation cancelled: actual cost limit exceeded");
  }
}

/** The evaluation has to wait for a promise; it restarts when the promise settles. */
export class Suspended extends Error {
  override readonly name = "Suspended";
  readonly until: Promise<unknown>;
  constructor(until: Promise<unknown>) {
    super("evaluation waits");
    this.until = until;
  }
}

export class Evaluation {
  cost = 0;
  limit = 0;
  /** Cost of copying for which the reference charges nothing. It counts against the limit by itself. */
  copied = 0;
  /** Cost of visiting parts of values for which the reference charges nothing, with a limit like `copied`. */
  walked = 0;
  /** Sizes of long strings, and keys of objects with many of them, so that each is determined only once. */
  readonly sizes = new Map<string, number>();
  readonly keys = new Map<object, readonly string[]>();
  readonly slots: (Value | undefined)[];

  constructor(slots: number) {
    this.slots = Array.from({ length: slots });
  }

  charge(cost: number): void {
    this.cost += cost;
    if (this.cost > this.limit) throw new CostExceeded();
  }

  chargeCopy(cost: number): void {
    this.copied += cost;
    if (this.copied > this.limit) throw new CostExceeded();
  }
}

export type Step = (state: Evaluation) => Value;
