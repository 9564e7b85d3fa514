// A gRPC channel that reports its calls and messages to an observer.
import type { GrpcChannel, GrpcMethod } from "./channel.ts";
import { type GrpcCode, GrpcError } from "./status.ts";
import type { GrpcStream } from "./stream.ts";

export interface ObservedCall {
  /** `package.Service` */
  readonly service: string;
  readonly method: string;
  readonly type: "unary" | "server_stream" | "bidi_stream";
}

export interface GrpcObserver {
  started(call: ObservedCall): void;
  sent(call: ObservedCall): void;
  received(call: ObservedCall): void;
  /** Called once for each call, when it has ended. */
  handled(call: ObservedCall, code: GrpcCode): void;
  /** Called at the start of a unary call; the returned function is called with the code when it ends. */
  follow?(call: ObservedCall): ((code: GrpcCode) => void) | undefined;
}

export function observedChannel(channel: GrpcChannel, observer: GrpcObserver): GrpcChannel {
  const known = new Map<string, ObservedCall>();
  const started = (path: string, type: ObservedCall["type"]): ObservedCall => {
    const call = known.getOrInsertComputed(path, () => {
      const [, service = "", method = ""] = path.split("/");
      return { service, method, type };
    });
    observer.started(call);
    return call;
  };
  const failed = (call: ObservedCall, error: unknown): void => observer.handled(call, codeOf(error));

  async function* counted<T>(call: ObservedCall, messages: AsyncIterable<T>): AsyncGenerator<T, void, void> {
    let code: GrpcCode = "CANCELLED";
    try {
      for await (const message of messages) {
        observer.received(call);
        yield message;
      }
      code = "OK";
    } catch (error) {
      code = codeOf(error);
      throw error;
    } finally {
      observer.handled(call, code);
    }
  }

  return {
    endpoints: channel.endpoints,
    unary: async (method, request, options) => {
      const call = started(method.path, "unary");
      const ended = observer.follow?.(call);
      observer.sent(call);
      try {
        const response = await channel.unary(method, request, options);
        observer.received(call);
        observer.handled(call, "OK");
        ended?.("OK");
        return response;
      } catch (error) {
        failed(call, error);
        ended?.(codeOf(error));
        throw error;
      }
    },
    serverStream: (method, request, options) => {
      const call = started(method.path, "server_stream");
      observer.sent(call);
      return counted(call, channel.serverStream(method, request, options));
    },
    duplex: async <Request, Response>(
      method: GrpcMethod<Request, Response>,
      options?: Parameters<GrpcChannel["duplex"]>[1],
    ): Promise<GrpcStream<Request, Response>> => {
      const call = started(method.path, "bidi_stream");
      try {
        const stream = await channel.duplex(method, options);
        const messages = counted(call, stream);
        return {
          endpoint: stream.endpoint,
          send: (request) => {
            observer.sent(call);
            return stream.send(request);
          },
          end: () => stream.end(),
          cancel: () => stream.cancel(),
          [Symbol.asyncIterator]: () => messages,
        };
      } catch (error) {
        failed(call, error);
        throw error;
      }
    },
    close: () => channel.close(),
  };
}

const codeOf = (error: unknown): GrpcCode => (error instanceof GrpcError ? error.code : "UNKNOWN");
