import assert from "node:assert/strict";
import { test } from "node:test";
import type { Node } from "#api";
import { virtualClock } from "#base";
import { dialects } from "#dialect";
import { NodeEvictions } from "./node-evictions.ts";
import { defaultSettings } from "./settings.ts";

const dialect = dialects.orch;

const node = (name: string, ready: string, labels: Record<string, string> = {}): Node =>
  ({
    metadata: { name, labels },
    spec: {},
    status: { conditions: [{ type: "Ready", status: ready }] },
  }) as unknown as Node;

function setUp(...nodes: readonly Node[]) {
  const clock = virtualClock();
  const evictions = new NodeEvictions(clock, defaultSettings, dialect);
  for (const each of nodes) evictions.observe(each);
  return { clock, evictions };
}

const many = (count: number, ready: string, prefix: string, labels?: Record<string, string>): Node[] =>
  Array.from({ length: count }, (_, at) => node(`${prefix}${at}`, ready, labels));

test("in a healthy zone the first node is evicted at once and the next after ten seconds", async () => {
  const { clock, evictions } = setUp(node("a", "True"), node("b", "False"), node("c", "Unknown"));
  assert.equal(evictions.turn(node("b", "False")), 0);
  assert.equal(evictions.turn(node("c", "Unknown")), 10_000);
  await clock.advance(10_000);
  assert.equal(evictions.turn(node("c", "Unknown")), 0);
});

const inZone = { [dialect.names.labels.zone]: "east" };
const cases: [name: string, nodes: Node[], stopped: boolean, waits: [first: number, second: number]][] = [
  ["without nodes nothing is stopped", [], false, [0, 0]],
  ["nothing is evicted when no node is ready", many(2, "Unknown", "n"), true, [Infinity, Infinity]],
  [
    "two of three nodes that are not ready are below the minimum",
    [node("a", "True"), ...many(2, "False", "n")],
    false,
    [0, 10_000],
  ],
  [
    "a small unhealthy zone stops after using its token",
    [node("a", "True"), ...many(3, "False", "n")],
    false,
    [0, Infinity],
  ],
  [
    "a large unhealthy zone slows down",
    [...many(20, "True", "a"), ...many(40, "False", "n")],
    false,
    [0, 100_000],
  ],
  [
    "a zone without ready nodes continues as long as another has one",
    [node("a", "True", inZone), ...many(5, "False", "n")],
    false,
    [0, 10_000],
  ],
  [
    "nodes excluded from disruption are not counted",
    [node("a", "True", { [dialect.names.labels.excludeFromDisruption]: "" }), node("n0", "False")],
    true,
    [Infinity, Infinity],
  ],
];
for (const [name, nodes, stopped, waits] of cases)
  test(name, () => {
    const { evictions } = setUp(...nodes);
    assert.equal(evictions.stopped, stopped);
    assert.deepEqual([evictions.turn(node("n0", "False")), evictions.turn(node("n1", "False"))], waits);
  });

test("a change that affects eviction rates is reported", () => {
  const { evictions } = setUp(node("a", "True"), node("b", "True"));
  assert.equal(evictions.observe(node("b", "False")), false);
  assert.equal(evictions.observe(node("a", "False")), true);
  assert.equal(evictions.observe(node("a", "False")), false);
  assert.equal(evictions.observe(node("a", "True")), true);
  assert.equal(evictions.forget("a"), true);
  assert.equal(evictions.forget("a"), false);
});
