import assert from "node:assert/strict";
import { test } from "node:test";
import { createMetrics } from "#base";
import { remoteStoreMetrics } from "./remote-store-metrics.ts";

test("calls to a remote store are counted by service, method, type and code", () => {
  const metrics = createMetrics();
  const { calls, leaseReplaced } = remoteStoreMetrics(metrics);
  const call = { service: "etcdserverpb.KV", method: "Range", type: "unary" } as const;
  calls.started(call);
  calls.sent(call);
  calls.received(call);
  for (const code of ["OK", "CANCELLED", "DEADLINE_EXCEEDED"] as const) calls.handled(call, code);
  leaseReplaced(7);
  const labels = 'grpc_method="Range",grpc_service="etcdserverpb.KV",grpc_type="unary"';
  const lines = metrics.expose().split("\n");
  for (const expected of [
    `grpc_client_started_total{${labels}} 1`,
    `grpc_client_msg_sent_total{${labels}} 1`,
    `grpc_client_msg_received_total{${labels}} 1`,
    `grpc_client_handled_total{grpc_code="OK",${labels}} 1`,
    `grpc_client_handled_total{grpc_code="Canceled",${labels}} 1`,
    `grpc_client_handled_total{grpc_code="DeadlineExceeded",${labels}} 1`,
    "etcd_lease_object_counts_sum 7",
  ])
    assert.ok(lines.includes(expected), expected);
});
