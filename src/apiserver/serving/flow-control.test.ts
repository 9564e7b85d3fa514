import assert from "node:assert/strict";
import { test } from "node:test";
import { createMetrics, virtualClock } from "#base";
import { apiCall } from "#kit";
import type { Endpoint, Resource } from "#registry";
import { flowControlDumps, objectCounter, serverFlowControl } from "./flow-control.ts";

const settings = {
  release: "1.27",
  maxRequestsInflight: 400,
  maxMutatingRequestsInflight: 200,
  requestTimeout: 60_000,
};
const made = () =>
  serverFlowControl({
    settings,
    resources: [],
    defined: { generation: () => 0, served: () => [] },
    clock: virtualClock(),
    metrics: createMetrics(),
  });

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
  test(`${path} is ${first ? "a table" : "not handled"}`, async () => {
    const reply = await flowControlDumps(made())(apiCall({ path }));
    const text = reply && Buffer.from(reply.body as Uint8Array).toString();
    assert.equal(text?.split(",")[0], first);
  });

/** The part of a resource that the counter uses. */
function resource(group: string, name: string, count: number): Resource {
  const made = { strategy: { resource: name }, source: { count: () => count } } as unknown as Resource;
  return Object.assign(made, { endpoints: [{ group, resource: made } as unknown as Endpoint] });
}

test("objects of built-in and custom resources are counted", () => {
  let served: readonly Endpoint[] = [];
  let generation = 0;
  const countOf = objectCounter([resource("", "pods", 3)], {
    generation: () => generation,
    served: () => served,
  });
  assert.deepEqual([countOf("", "pods"), countOf("example.com", "things")], [3, undefined]);
  served = resource("example.com", "things", 700).endpoints;
  assert.equal(countOf("example.com", "things"), undefined);
  generation += 1;
  assert.deepEqual([countOf("", "pods"), countOf("example.com", "things")], [3, 700]);
});
