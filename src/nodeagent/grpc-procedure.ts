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
  const [asked, told] = [
    protobufCodec(request, { style: "proto3" }),
    protobufCodec(response, { style: "proto3" }),
  ];
  return {
    call: {
      path,
      encode: (one) => asked.encode(one as Parameters<typeof asked.encode>[0]),
      decode: (bytes) => told.decode(bytes) as MessageOf<R>,
    },
    serve: {
      path,
      decode: (bytes) => asked.decode(bytes) as MessageOf<Q>,
      encode: (one) => told.encode(one as Parameters<typeof told.encode>[0]),
    },
  };
}
