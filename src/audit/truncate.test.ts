import assert from "node:assert/strict";
import { test } from "node:test";
import { eventOf } from "./audit.fixture.ts";
import type { AuditEvent } from "./event.ts";
import { splitBySize, truncating } from "./truncate.ts";

function harness(maxEventBytes: number) {
  const taken: AuditEvent[] = [];
  const dropped: number[] = [];
  const backend = truncating(
    { process: (events) => void taken.push(...events), close: async () => undefined },
    { maxEventBytes, apiVersion: "g/v1", annotation: "truncated", dropped: (count) => dropped.push(count) },
  );
  return { taken, dropped, backend };
}

test("a large event loses both bodies and is marked as truncated", () => {
  const { taken, backend } = harness(1000);
  void backend.process([
    eventOf({ requestObject: `"${"x".repeat(900)}"`, responseObject: "{}", annotations: [["a", "b"]] }),
  ]);
  assert.deepEqual(
    taken.map(({ requestObject, responseObject, annotations }) => [
      requestObject,
      responseObject,
      annotations,
    ]),
    [
      [
        undefined,
        undefined,
        [
          ["a", "b"],
          ["truncated", "true"],
        ],
      ],
    ],
  );
});

test("an event within the limit is unchanged", () => {
  const { taken, backend } = harness(1000);
  void backend.process([eventOf({ requestObject: '{"a":1}' })]);
  assert.equal(taken[0]!.requestObject, '{"a":1}');
});

test("an event that is too large without bodies is dropped and counted", () => {
  const { taken, dropped, backend } = harness(300);
  void backend.process([eventOf({ requestUri: `/${"x".repeat(400)}` })]);
  assert.deepEqual([taken, dropped], [[], [1]]);
});

test("a batch is split by size, never within an event", () => {
  const events = ["a", "b", "c"].map((auditId) => eventOf({ auditId }));
  const parts = splitBySize(events, 900, "g/v1").map((part) => part.map(({ auditId }) => auditId));
  assert.deepEqual(parts, [["a", "b"], ["c"]]);
  assert.equal(splitBySize(events, 1, "g/v1").length, 3);
});
