// The request pipeline, a list of steps in order: each step may respond, or call the next one and modify its
// response.
import type { Reply } from "./call.ts";

export interface Step<C> {
  readonly name: string;
  run(call: C, next: () => Promise<Reply>): Promise<Reply>;
}

export type Handler<C> = (call: C) => Promise<Reply>;

/** Chains the steps in order, with the handler last. */
export function pipeline<C>(steps: readonly Step<C>[], handler: Handler<C>): Handler<C> {
  return steps.reduceRight<Handler<C>>((next, step) => (call) => step.run(call, () => next(call)), handler);
}
