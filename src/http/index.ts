export { type Body, BodyCutShort, BodyTooLarge, type Call, type HeaderValues, type Peer, type Reply, type Sink, header, headerList } from "./call.ts";
export { type Query, parseQuery } from "./query.ts";
export { type Handler, type Step, pipeline } from "./pipeline.ts";
export { type MediaType, parseAccept, parseMediaType } from "./media-type.ts";
export { type Listener, type ListenerOptions, listen } from "./listener.ts";
export { type Injected, type Injection, inject } from "./inject.ts";
