// Counts requests in flight, rejects new ones while the server drains, and tracks long-running responses.
import type { Duplex } from "node:stream";
import { ApiError, type Clock, serviceUnavailable } from "#base";
import { type Reply, type Sink, onceClosed } from "#http";
import { type ApiCall, statusObject } from "#endpoints";
import { isLongRunning } from "./long-running.ts";
import { endableSink, throttledSink } from "./long-stream.ts";
import { throttledDuplex } from "./throttled-duplex.ts";
import type { Filter } from "./filter.ts";
import type { Lifecycle } from "./lifecycle.ts";

export interface RequestObserver {
  /** Called when a long-running response starts; the returned function is called when it ends. */
  streaming(call: ApiCall): () => void;
  /** Called for each request that is not long-running; `answered` follows. */
  began(call: ApiCall): void;
  /** `bytes` is the length of a response that is not streamed. */
  answered(call: ApiCall, status: number, milliseconds: number, long: boolean, bytes: number): void;
  /** Called when the server aborted a response while the client was still connected. */
  aborted(call: ApiCall): void;
}

export interface ShutdownFilterOptions {
  readonly lifecycle: Lifecycle;
  readonly observer: RequestObserver;
  readonly clock: Clock;
  /** Rate limit of long-running responses; 0 means unlimited. */
  readonly streamBytesPerSecond: number;
}

/** Paths that are served even while the server drains, for load balancers and administrators. */
const servedWhileDraining = /^\/(readyz|livez|healthz|metrics)/;

export function shutdownFilter({
  lifecycle,
  observer,
  clock,
  streamBytesPerSecond,
}: ShutdownFilterOptions): Filter {
  // In plain mode, requests whose bodies are incomplete when the delay is over are rejected.
  const rejectIfDraining = (): void => {
    if (lifecycle.refusing && !lifecycle.options.sendRetryAfter)
      throw new ApiError(500, "", "the server is shutting down");
  };

  async function countRequest(call: ApiCall, next: () => Promise<Reply>): Promise<Reply> {
    const began = performance.now();
    const long = isLongRunning(call.target);
    if (!long) {
      lifecycle.requestStarted();
      observer.began(call);
    }
    call.afterBody = rejectIfDraining;
    try {
      const reply = await next();
      observer.answered(call, reply.status, performance.now() - began, long, lengthOf(reply.body));
      const { body } = reply;
      if (body && "stream" in body)
        return {
          ...reply,
          body: {
            stream: long
              ? (sink) => streamLongRunning(call, body.stream, sink)
              : (sink) => streamInFlight(call, body.stream, sink),
          },
        };
      if (body && "takeOver" in body)
        return {
          ...reply,
          body: { takeOver: (socket, head) => trackUpgraded(call, body.takeOver, socket, head) },
        };
      return lifecycle.refusing && !lifecycle.options.sendRetryAfter
        ? withConnectionClose(call, reply)
        : reply;
    } finally {
      if (!long) lifecycle.requestFinished();
    }
  }

  async function streamLongRunning(
    call: ApiCall,
    stream: (sink: Sink) => Promise<void>,
    given: Sink,
  ): Promise<void> {
    const endable = endableSink(given);
    const throttled =
      streamBytesPerSecond > 0 ? throttledSink(endable.sink, streamBytesPerSecond, clock) : undefined;
    const ended = observer.streaming(call);
    lifecycle.streamStarted(endable);
    try {
      await stream(throttled ?? endable.sink);
      await throttled?.drained();
    } catch (error) {
      observeAbort(call, given);
      throw error;
    } finally {
      lifecycle.streamEnded(endable);
      ended();
    }
  }

  /** Tracks an upgraded connection. */
  function trackUpgraded(
    call: ApiCall,
    takeOver: (socket: Duplex, head: Uint8Array) => void,
    socket: Duplex,
    head: Uint8Array,
  ): void {
    const stream = { end: () => void socket.destroy() };
    const ended = observer.streaming(call);
    lifecycle.streamStarted(stream);
    onceClosed(socket, () => {
      lifecycle.streamEnded(stream);
      ended();
    });
    takeOver(streamBytesPerSecond > 0 ? throttledDuplex(socket, streamBytesPerSecond, clock) : socket, head);
  }

  /** A large response is in flight until its last byte is written. */
  async function streamInFlight(
    call: ApiCall,
    stream: (sink: Sink) => Promise<void>,
    sink: Sink,
  ): Promise<void> {
    lifecycle.requestStarted();
    try {
      await stream(sink);
    } catch (error) {
      observeAbort(call, sink);
      throw error;
    } finally {
      lifecycle.requestFinished();
    }
  }

  const observeAbort = (call: ApiCall, { closed }: Sink): void => {
    if (!closed.aborted) observer.aborted(call);
  };

  return {
    name: "shutdown",
    run: (call, next) => {
      if (lifecycle.refusing && !servedWhileDraining.test(call.target.path))
        return Promise.resolve(
          withConnectionClose(call, lifecycle.options.sendRetryAfter ? retryLaterReply : unavailableReply),
        );
      return countRequest(call, next);
    },
  };
}

const retryLaterReply: Reply = {
  status: 429,
  headers: {
    "content-type": "text/plain; charset=utf-8",
    "x-content-type-options": "nosniff",
    "retry-after": "5",
  },
  body: Buffer.from("The server is shutting down, please try again later.\n"),
};

const unavailableReply: Reply = {
  status: 503,
  headers: { "content-type": "application/json", "x-content-type-options": "nosniff", "retry-after": "1" },
  body: Buffer.from(`${JSON.stringify(statusObject(serviceUnavailable("apiserver is shutting down")))}\n`),
};

/** Makes the client stop using this connection, by the means of its protocol. */
function withConnectionClose(call: ApiCall, reply: Reply): Reply {
  if (call.call.protocol === "2") {
    call.call.goAway();
    return reply;
  }
  return { ...reply, headers: { ...reply.headers, connection: "close" } };
}

function lengthOf(body: Reply["body"]): number {
  if (body instanceof Uint8Array) return body.length;
  return Array.isArray(body) ? body.reduce((sum: number, part: Uint8Array) => sum + part.length, 0) : 0;
}
