// The request pipeline is a list, read top to bottom: each step may answer, or call the next one and touch
// its answer.
import type { Reply } from "./call.ts";

export interface Step<C> {
  readonly name: string;
  run(call: C, next: () => Promise<Reply>): Promise<Reply>;
}

export type Handler<C> = (call: C) => Promise<Reply>;

/** Joins the steps in order, the handler last. */
export function pipeline<C>(steps: readonly Step<C>[], handler: Handler<C>): Handler<C> {
  return steps.reduceRight<Handler<C>>((next, step) => (call) => step.run(call, () => next(call)), handler);
}
