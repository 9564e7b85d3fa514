// A procedure of a plug-in protocol for both its client and its server.
import type { MessageOf } from "#cri";
import type { GrpcMethod, GrpcServerMethod } from "#http";
import { type Message, protobufCodec } from "#schema";

export interface GrpcProcedurePair<Q, R> {
  /** The client side. */
  readonly call: GrpcMethod<Q, R>;
  /** The server side. */
  readonly serve: GrpcServerMethod<Q, R>;
}

export function procedureOf<Q extends Message, R extends Message>(
  path: string,
  request: Q,
  response: R,
): GrpcProcedurePair<MessageOf<Q>, MessageOf<R>> {
  const [requestCodec, responseCodec] = [
    protobufCodec(request, { style: "proto3" }),
    protobufCodec(response, { style: "proto3" }),
  ];
  return {
    call: {
      path,
      encode: (one) => requestCodec.encode(one as Parameters<typeof requestCodec.encode>[0]),
      decode: (bytes) => responseCodec.decode(bytes) as MessageOf<R>,
    },
    serve: {
      path,
      decode: (bytes) => requestCodec.decode(bytes) as MessageOf<Q>,
      encode: (one) => responseCodec.encode(one as Parameters<typeof responseCodec.encode>[0]),
    },
  };
}
