import assert from "node:assert/strict";
import { test } from "node:test";
import { event } from "./event.ts";
import { flowSchema } from "./flow-schema.ts";
import { cellsOf } from "./strategy.fixture.ts";

const sources: [sent: object, cell: string][] = [
  [{ deprecatedSource: { component: "agent", host: "n" } }, "agent, n"],
  [
    { deprecatedSource: { component: "agent" }, reportingController: "c", reportingInstance: "i" },
    "agent, i",
  ],
  [{ deprecatedSource: { host: "n" }, reportingController: "c" }, "c, n"],
  [{ deprecatedSource: { host: "n" } }, ", n"],
  [{ reportingController: "c" }, "c"],
];
for (const [sent, cell] of sources)
  test(`an event of ${JSON.stringify(sent)} shows ${cell}`, () => {
    assert.ok(cellsOf(event, { metadata: { name: "e" }, ...sent }).includes(cell));
  });

const conditions: [conditions: object[], cell: string][] = [
  [[], "?"],
  [[{ type: "Dangling" }], ""],
  [[{ type: "Dangling", status: "True" }], "True"],
];
for (const [given, cell] of conditions)
  test(`a flow schema with ${JSON.stringify(given)} shows ${JSON.stringify(cell)}`, () => {
    const sent = { metadata: { name: "f" }, spec: {}, status: { conditions: given } };
    assert.equal(cellsOf(flowSchema, sent).at(-1), cell);
  });
