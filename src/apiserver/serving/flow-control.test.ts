import assert from "node:assert/strict";
import { test } from "node:test";
import { createMetrics, virtualClock } from "#base";
import { apiCall } from "#kit";
import { flowControlDumps, serverFlowControl } from "./flow-control.ts";

const settings = { maxRequestsInflight: 400, maxMutatingRequestsInflight: 200, requestTimeout: 60_000 };
const made = () =>
  serverFlowControl({ settings, resources: [], clock: virtualClock(), metrics: createMetrics() });

test("the server's seats are the sum of both limits of requests in flight", () =>
  assert.equal(made().levels.find(({ name }) => name === "catch-all")?.nominalSeats, 600));

const dumps: [path: string, first: string | undefined][] = [
  ["/debug/api_priority_and_fairness/dump_priority_levels", "PriorityLevelName"],
  ["/debug/api_priority_and_fairness/dump_queues", "PriorityLevelName"],
  ["/debug/api_priority_and_fairness/dump_requests?includeRequestDetails=1", "PriorityLevelName"],
  ["/debug/api_priority_and_fairness/dump_nothing", undefined],
  ["/debug/api_priority_and_fairness/constructor", undefined],
  ["/version", undefined],
];
for (const [path, first] of dumps)
  test(`${path} is ${first ? "a table" : "not answered here"}`, async () => {
    const reply = await flowControlDumps(made())(apiCall({ path }));
    const text = reply && Buffer.from(reply.body as Uint8Array).toString();
    assert.equal(text?.split(",")[0], first);
  });
