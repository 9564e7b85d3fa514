// Events evicted when a limit is exceeded.
import assert from "node:assert/strict";
import { test } from "node:test";
import { EventBudget, type EventClass, type EventLimits, type Limit } from "./event-budget.ts";

const none: Limit = { count: 0, bytes: 0 };
const limits = (given: Partial<EventLimits>): EventLimits => ({
  whole: none,
  namespace: none,
  types: { Normal: none, Warning: none },
  ...given,
});

/**
 * Fills a budget: `a:N` is a normal event in namespace a, `b:W` a warning in b. Each is named by its index
 * and has 10 bytes.
 */
function filled(given: Partial<EventLimits>, events: string): EventBudget {
  const budget = new EventBudget(limits(given));
  for (const [at, text] of events.split(" ").entries()) {
    const [namespace, letter] = text.split(":") as [string, string];
    const type: EventClass = letter === "W" ? "Warning" : "Normal";
    budget.add({ key: `${at}`, namespace, type, bytes: 10, revision: at });
  }
  return budget;
}

const cases: [name: string, limits: Partial<EventLimits>, events: string, evicted: string][] = [
  ["nothing without limits", {}, "a:N a:N a:W", ""],
  ["nothing within limits", { whole: { count: 3, bytes: 0 } }, "a:N a:N a:W", ""],
  ["the oldest normal event is evicted first", { whole: { count: 2, bytes: 0 } }, "a:W b:N a:N a:N", "1 2"],
  [
    "warnings are evicted when no normal events are left",
    { whole: { count: 1, bytes: 0 } },
    "a:W a:N a:W",
    "1 0",
  ],
  ["bytes are limited like events", { whole: { count: 0, bytes: 25 } }, "a:N a:N a:N", "0"],
  ["each namespace has its own limit", { namespace: { count: 1, bytes: 0 } }, "a:N b:N a:N", "0"],
  [
    "a type has its own limit",
    { types: { Normal: { count: 1, bytes: 0 }, Warning: none } },
    "a:N a:W a:N a:W",
    "0",
  ],
  [
    "events evicted by one limit do not count for the next",
    { namespace: { count: 1, bytes: 0 }, whole: { count: 2, bytes: 0 } },
    "a:N a:N b:N",
    "0",
  ],
];

for (const [name, given, events, evicted] of cases)
  test(name, () => {
    const budget = filled(given, events);
    assert.equal([...budget.overflow()].map(({ event }) => event.key).join(" "), evicted);
    assert.deepEqual([...budget.overflow()], []);
    assert.equal(budget.bytes, budget.count * 10);
  });

test("an updated event counts as new", () => {
  const budget = filled({ whole: { count: 2, bytes: 0 } }, "a:N a:N");
  budget.add({ key: "0", namespace: "a", type: "Normal", bytes: 10, revision: 7 });
  budget.add({ key: "2", namespace: "a", type: "Normal", bytes: 10, revision: 8 });
  assert.deepEqual(
    [...budget.overflow()].map(({ event }) => event.key),
    ["1"],
  );
});

test("removed and cleared events are not counted", () => {
  const budget = filled({}, "a:N b:W");
  budget.remove("0");
  budget.remove("0");
  assert.deepEqual([budget.count, budget.bytes], [1, 10]);
  budget.clear();
  assert.deepEqual([budget.count, budget.bytes], [0, 0]);
});
