import assert from "node:assert/strict";
import { test } from "node:test";
import { dialectNamed } from "#dialect";
import { Span } from "#tracing";
import { latencyParts } from "./latency-parts.ts";

const orch = dialectNamed("orch")!;
const kubernetes = dialectNamed("kubernetes")!;

function timed(parent: Span, name: string, began: number, ended: number): Span {
  const span = parent.child(name, undefined, { began });
  span.end(ended);
  return span;
}

test("the latency of a slow request is reported by its parts", () => {
  const operation = new Span("Create", undefined, { began: 0 });
  timed(operation, "Call mutating webhook", 0, 100);
  timed(operation, "Call mutating webhook", 100, 250);
  timed(operation, "Call validating webhook", 250, 300);
  timed(operation, "Call validating webhook", 250, 400);
  const other = timed(operation, "something", 400, 500);
  timed(other, `List(recursive=true) ${orch.wire.storeSpan}`, 400, 480);
  timed(other, `Create ${orch.wire.storeSpan}`, 480, 490);
  operation.event("About to write a response", undefined, 500);
  operation.end(520);
  assert.deepEqual(latencyParts(operation, orch), {
    store: 80,
    "mutating-webhook": 250,
    "validating-webhook": 150,
    "transform-response-object": 20,
    "serialize-response-object": 20,
    "response-write": 20,
  });
});

const written = { "serialize-response-object": 0.001, "response-write": 0.001 };

test("parts that took no time, or that have not ended, are omitted", () => {
  const operation = new Span("Get", undefined, { began: 0 });
  timed(operation, `List(recursive=true) ${kubernetes.wire.storeSpan}`, 0, 5);
  operation.child("Call mutating webhook", undefined, { began: 1 });
  operation.event("About to write a response", undefined, 3);
  assert.deepEqual(latencyParts(operation, kubernetes), { etcd: 5, ...written });
});

test("an error is encoded and written, but not transformed", () => {
  const operation = new Span("Create", undefined, { began: 0 });
  timed(operation, "Call mutating webhook", 0, 600);
  operation.end(600);
  assert.deepEqual(latencyParts(operation, kubernetes), { "mutating-webhook": 600, ...written });
  assert.deepEqual(latencyParts(undefined, kubernetes), written);
});
