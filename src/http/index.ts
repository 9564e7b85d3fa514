export {
  type Body,
  IncompleteBody,
  BodyTooLarge,
  type Call,
  type HeaderValues,
  type Peer,
  type TrustedCaller,
  type Reply,
  type Sink,
  header,
  headerList,
} from "./call.ts";
export { fileReply, plainReply } from "./files.ts";
export { type HealthMetrics, healthMetrics, metricsReset } from "./health-metrics.ts";
export { type HealthCheck, type HealthObserver, checkReply, checksReply, namesOfCheck } from "./health.ts";
export { buildInfo, featureMetrics } from "./program-metrics.ts";
export { type Query, parseQuery } from "./query.ts";
export { connectionErrorText } from "./connection-error.ts";
export { discardReply } from "./discard-reply.ts";
export { lengthOf, onceClosed } from "./exchange.ts";
export { freeBuffers } from "./free-buffers.ts";
export { NoAlternativeNames, checkServerIdentity, isUntrusted, trust } from "./server-identity.ts";
export { type Handler, type Step, pipeline } from "./pipeline.ts";
export { type MediaType, parseAccept, parseMediaType } from "./media-type.ts";
export {
  type Http2Implementation,
  type Listener,
  type ListenerOptions,
  type ConnectionRefusal,
  type PlainListener,
  type PlainListenerOptions,
  listen,
  listenPlain,
} from "./listener.ts";
export { type Exchange, type Http1ClientOptions, Http1Client } from "./http1-client.ts";
export {
  type HeaderFields,
  type Hop,
  type Location,
  type Sent,
  locationOf,
  postRequest,
  requestText,
} from "./post-request.ts";
export type { WholeReply } from "./reply-reader.ts";
export {
  type ConnectProxy,
  type Dial,
  type DialAddress,
  type DialObserver,
  createConnectionWith,
  dialThrough,
} from "./dial.ts";
export { type Injected, type Injection, inject } from "./inject.ts";
export {
  type GrpcCallOptions,
  type GrpcChannel,
  type GrpcChannelOptions,
  type GrpcMethod,
  grpcChannel,
} from "./grpc/channel.ts";
export type { TlsMaterial } from "./grpc/connection.ts";
export { messageTooLong } from "./grpc/frames.ts";
export { type GrpcObserver, type ObservedCall, observedChannel } from "./grpc/observed-channel.ts";
export {
  type GrpcProcedure,
  type GrpcServer,
  type GrpcServerCall,
  type GrpcServerMethod,
  type GrpcServerOptions,
  grpcServer,
  streamingProcedure,
  unaryProcedure,
} from "./grpc/server.ts";
export { type GrpcCode, GrpcError, grpcCodes } from "./grpc/status.ts";
export type { GrpcStream } from "./grpc/stream.ts";
