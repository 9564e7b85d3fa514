import assert from "node:assert/strict";
import { test } from "node:test";
import { slowTraces } from "./slow-trace.ts";
import { Span } from "./span.ts";

const began = Date.UTC(2026, 10, 16, 5) - performance.timeOrigin;

function slow(milliseconds: number): Span {
  const span = new Span("Create", { url: "/api/v1/pods", verb: "create" }, { began, slowMilliseconds: 500 });
  span.event("limitedReadBody succeeded", { len: 12 }, began + 1);
  const store = span.child("Create store", { key: "/pods/a" }, { began: began + 2, slowMilliseconds: 500 });
  store.event("Txn call succeeded", undefined, began + milliseconds - 10);
  store.end(began + milliseconds - 10);
  span.event("About to write a response", undefined, began + milliseconds - 9);
  span.end(began + milliseconds);
  return span;
}

test("a slow operation is logged in one line with its steps", () => {
  assert.deepEqual(slowTraces(slow(812), { all: false, number: 17 }), [
    "Trace[17]: Create url:/api/v1/pods,verb:create (16-Nov-2026 05:00:00.000) (total time: 812ms): " +
      "[Create store key:/pods/a 800ms (05:00:00.002) ---Txn call succeeded 800ms (05:00:00.802)] [812ms] END",
  ]);
});

test("with higher verbosity all steps are logged", () => {
  const [line] = slowTraces(slow(812), { all: true, number: 17 });
  assert.match(line!, /---limitedReadBody succeeded len:12 1ms .*---About to write a response 1ms/);
});

test("an operation below its threshold is not logged", () => {
  assert.deepEqual(slowTraces(slow(499), { all: true }), []);
});

test("a slow span nested in one without a threshold is logged by itself", () => {
  const outer = new Span("request", {}, { began });
  const inner = outer.child("Call webhook", {}, { began, slowMilliseconds: 500 });
  inner.end(began + 600);
  outer.end(began + 700);
  assert.match(slowTraces(outer, { all: false })[0]!, /^Trace\[\d+\]: Call webhook .*\(total time: 600ms\)/);
});
