import assert from "node:assert/strict";
import { test } from "node:test";
import { dialects } from "#dialect";
import { Span } from "#tracing";
import type { WriteRequest } from "./request.ts";
import { encodedIn, inStoreSpan } from "./store-span.ts";

const trace = { traceId: "a".repeat(32), ended: () => undefined };

const requestFor = (span: Span, custom: boolean): WriteRequest =>
  ({
    span,
    endpoint: {
      group: custom ? "stable.example.com" : "",
      kind: "Node",
      resource: {
        strategy: { custom, storagePath: "minions", resource: "nodes" },
        dialect: dialects.orch,
        groupResource: "nodes",
      },
    },
  }) as unknown as WriteRequest;

const operations: ["Create" | "GuaranteedUpdate", readonly string[]][] = [
  ["Create", ["TransformToStorage succeeded", "Txn call succeeded", "decode succeeded"]],
  [
    "GuaranteedUpdate",
    [
      "TransformToStorage succeeded",
      "Transaction prepared",
      "Txn call completed",
      "Transaction committed",
      "decode succeeded",
    ],
  ],
];
for (const [operation, after] of operations)
  test(`${operation} has the same trace steps as in kube-apiserver`, async () => {
    const parent = new Span("Create", { "audit-id": "x" }, { trace });
    await inStoreSpan(requestFor(parent, false), operation, "a", async (span) => {
      encodedIn(span, () => undefined);
      span!.child("the call").end();
    });
    const [span] = parent.items as readonly Span[];
    assert.deepEqual(
      span!.items.filter((item) => !(item instanceof Span)).map(({ name }) => name),
      ["About to Encode", "Encode succeeded", ...after],
    );
    const times = span!.items.flatMap((item) => (item instanceof Span ? [] : item.at));
    assert.deepEqual(
      times,
      times.toSorted((a, b) => a - b),
    );
    assert.deepEqual(
      [span!.attributes["type"], span!.attributes["key"], span!.attributes["audit-id"]],
      ["*core.Node", "/minions/a", "x"],
    );
  });

test("a request that is not sampled records only the write to the store", async () => {
  const parent = new Span("Create");
  await inStoreSpan(requestFor(parent, true), "Create", "a", async (span) => encodedIn(span, () => 1));
  const [span] = parent.items as readonly Span[];
  assert.deepEqual(
    span!.items.map(({ name }) => name),
    ["Txn call succeeded"],
  );
  assert.equal(span!.attributes["type"], "*unstructured.Unstructured");
});
