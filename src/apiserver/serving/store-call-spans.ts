// Spans of gRPC calls to a remote store, with the names and attributes of otelgrpc.
import { type GrpcObserver, grpcCodes } from "#http";
import type { ActiveSpan } from "#tracing";

export const storeCallSpans =
  (active: ActiveSpan): NonNullable<GrpcObserver["follow"]> =>
  ({ service, method }) => {
    const span = active.current?.child(
      `${service}/${method}`,
      { "rpc.system": "grpc", "rpc.service": service, "rpc.method": method },
      { kind: "client" },
    );
    span?.event("message", { "message.type": "SENT", "message.id": 1 });
    return (
      span &&
      ((code) => {
        if (code === "OK") span.event("message", { "message.type": "RECEIVED", "message.id": 1 });
        span.set({ "rpc.grpc.status_code": grpcCodes.indexOf(code) });
        span.failed = code !== "OK";
        span.end();
      })
    );
  };
