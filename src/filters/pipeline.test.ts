import assert from "node:assert/strict";
import { test } from "node:test";
import { createMetrics, virtualClock } from "#base";
import { dialects } from "#dialect";
import { FlowControl } from "#fairness";
import { type PipelineOptions, filters } from "./pipeline.ts";

/** Only the options that select filters; none of the filters runs. */
const options = {
  dialect: dialects.orch,
  clock: virtualClock(),
  lifecycle: {},
  metrics: {},
  strictTransportDirectives: [],
  goawayChance: 0,
  corsAllowedOrigins: [],
  inFlight: { reading: 1, writing: 1 },
} as unknown as PipelineOptions;
const flowControl = new FlowControl({
  clock: options.clock,
  metrics: createMetrics(),
  serverSeats: 1,
  maxWaitMilliseconds: 1,
  objectCount: () => 0,
  mandatory: { levels: {}, schemas: {} },
});

test("priority and fairness replaces the limits of requests in flight", () => {
  const limits = (given: PipelineOptions): string[] =>
    filters(given)
      .map(({ name }) => name)
      .filter((name) => /in flight|fairness/.test(name));
  assert.deepEqual(limits(options), ["requests in flight"]);
  assert.deepEqual(limits({ ...options, flowControl }), ["priority and fairness"]);
});
