// The state of one evaluation: the variables and the cost so far.

import { EvaluationError, type Value } from "./values.ts";

/** The cost of the evaluation went over its limit; nothing in the expression can absorb this. */
export class CostExceeded extends Error {
  override readonly name = "CostExceeded";
  constructor() {
    super("operation cancelled: actual cost limit exceeded");
  }
}

/** Evaluation has to wait for something; it starts over when the promise is done. */
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
  readonly slots: (Value | undefined)[];

  constructor(slots: number) {
    this.slots = Array.from({ length: slots });
  }

  charge(cost: number): void {
    this.cost += cost;
    if (this.cost > this.limit) throw new CostExceeded();
  }
}

export type Step = (state: Evaluation) => Value;

/** The error if it is one of evaluation; any other is thrown again. */
export function absorbed(error: unknown): EvaluationError {
  if (error instanceof EvaluationError) return error;
  throw error;
}
