import assert from "node:assert/strict";
import { test } from "node:test";
import type { GrpcCode } from "#http";
import { ActiveSpan, type Span, tracer } from "#tracing";
import { storeCallSpans } from "./store-call-spans.ts";

const call = { service: "etcdserverpb.KV", method: "Txn", type: "unary" } as const;

/** Returns the spans of a request that makes one call to the store. */
function spansOf(code: GrpcCode): { readonly ended: readonly Span[]; readonly root: Span } {
  const active = new ActiveSpan();
  const ended: Span[] = [];
  const { rootSpan } = tracer({
    samplingRatePerMillion: 1_000_000,
    ended: (span) => ended.push(span),
    active,
  });
  const follow = storeCallSpans(active);
  const root = rootSpan("request")!;
  root.run(() => follow(call)?.(code));
  root.end();
  return { ended, root };
}

test("a store call inside a request is a span like that of otelgrpc", () => {
  const { ended, root } = spansOf("OK");
  const [span] = ended;
  assert.deepEqual(
    [span!.name, span!.kind, span!.parentId, span!.failed],
    ["etcdserverpb.KV/Txn", "client", root.id, false],
  );
  assert.deepEqual(span!.attributes, {
    "rpc.system": "grpc",
    "rpc.service": "etcdserverpb.KV",
    "rpc.method": "Txn",
    "rpc.grpc.status_code": 0,
  });
  assert.deepEqual(
    span!.items.map((item) => "attributes" in item && item.attributes?.["message.type"]),
    ["SENT", "RECEIVED"],
  );
});

test("the span of a failed call has its status code", () => {
  const { ended } = spansOf("UNAVAILABLE");
  assert.deepEqual([ended[0]!.failed, ended[0]!.attributes["rpc.grpc.status_code"]], [true, 14]);
});

test("a call outside of a request, or after its span has ended, has no span", () => {
  const active = new ActiveSpan();
  const follow = storeCallSpans(active);
  assert.equal(follow(call), undefined);
  const span = tracer({ samplingRatePerMillion: 1_000_000, ended: () => undefined, active }).rootSpan("r")!;
  span.run(() => {
    span.end();
    assert.equal(follow(call), undefined);
  });
});
