// Metrics of a remote store: calls and messages of its gRPC connection, and the number of writes that shared
// a lease.
import type { Metrics } from "#base";
import type { GrpcCode, GrpcObserver, ObservedCall } from "#http";
import { leaseMetrics } from "./store-metrics.ts";

export interface RemoteStoreObservers {
  readonly leaseReplaced: (keys: number) => void;
  readonly calls: GrpcObserver;
}

export const remoteStoreMetrics = (
  metrics: Metrics,
  follow?: GrpcObserver["follow"],
): RemoteStoreObservers => ({
  leaseReplaced: leaseMetrics(metrics),
  calls: { ...grpcClientMetrics(metrics), ...(follow && { follow }) },
});

function grpcClientMetrics(metrics: Metrics): GrpcObserver {
  const counter = (what: string, help: string, labels: readonly string[]) =>
    metrics.counter({ name: `grpc_client_${what}_total`, help, labels });
  const labels = ["grpc_method", "grpc_service", "grpc_type"];
  const started = counter("started", "Number of RPCs started by the client.", labels);
  const sent = counter("msg_sent", "Number of RPC messages sent by the client.", labels);
  const received = counter("msg_received", "Number of RPC messages received by the client.", labels);
  const handled = counter("handled", "Number of RPCs completed by the client, by status code.", [
    "grpc_code",
    ...labels,
  ]);
  const of = ({ method, service, type }: ObservedCall) => [method, service, type] as const;
  return {
    started: (call) => started.with(...of(call)).add(),
    sent: (call) => sent.with(...of(call)).add(),
    received: (call) => received.with(...of(call)).add(),
    handled: (call, code) => handled.with(codeName(code), ...of(call)).add(),
  };
}

/**
 * Returns `DeadlineExceeded` for DEADLINE_EXCEEDED; Canceled is the only name that is spelled differently.
 */
function codeName(code: GrpcCode): string {
  if (code === "OK") return code;
  if (code === "CANCELLED") return "Canceled";
  return code
    .split("_")
    .map((word) => word[0]! + word.slice(1).toLowerCase())
    .join("");
}
