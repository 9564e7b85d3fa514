// A transport with fault injection, for tests of a client's behaviour when the server or the network fails.
import { type Clock, systemClock } from "#base";
import { type ClientRequest, type ClientResponse, type Transport, Unreachable } from "./transport.ts";

/** The kind of an injected fault. */
export type Fault =
  /** Respond with this status without sending the request. */
  | { readonly answer: number; readonly retryAfterSeconds?: number; readonly message?: string }
  /**
   * Break the connection: before the server receives the request, or after it has processed it but before the
   * response arrives.
   */
  | { readonly cut: "before" | "after" }
  /** Break the response after this number of watch events (or lines). */
  | { readonly dropAfterEvents: number }
  /** Delay the request by this time. */
  | { readonly delayMilliseconds: number };

export interface FaultRule {
  /** Selects the requests it applies to; all if absent. */
  readonly when?: (request: ClientRequest) => boolean;
  /** Number of requests it applies to; one if absent, Infinity for all. */
  readonly times?: number;
}

export interface FaultyTransport extends Transport {
  /** Adds a fault after those already planned. Each request gets the first that applies to it. */
  plan(fault: Fault, rule?: FaultRule): void;
  /** Number of planned faults that are not used up. */
  readonly planned: number;
  /** The latest injected faults, oldest first. */
  readonly injected: readonly { readonly fault: Fault; readonly method: string; readonly path: string }[];
  clear(): void;
}

const maxInjected = 10_000;

/** Reports whether a request is a watch, for use in rules. */
export const isWatch = ({ path }: ClientRequest): boolean => /[?&]watch=(true|1)(&|$)/.test(path);

export function withFaults(
  transport: Transport,
  { clock = systemClock }: { readonly clock?: Clock } = {},
): FaultyTransport {
  const planned: {
    readonly fault: Fault;
    readonly when: (request: ClientRequest) => boolean;
    left: number;
  }[] = [];
  const injected: { fault: Fault; method: string; path: string }[] = [];
  const next = (request: ClientRequest): Fault | undefined => {
    const at = planned.findIndex(({ when }) => when(request));
    const found = planned[at];
    if (!found) return undefined;
    if (--found.left <= 0) planned.splice(at, 1);
    if (injected.length === maxInjected) injected.shift();
    injected.push({ fault: found.fault, method: request.method, path: request.path });
    return found.fault;
  };
  return {
    plan: (fault, { when = () => true, times = 1 } = {}) => void planned.push({ fault, when, left: times }),
    get planned() {
      return planned.length;
    },
    injected,
    clear: () => void planned.splice(0),
    close: () => transport.close(),
    send: async (request) => {
      const fault = next(request);
      if (!fault) return await transport.send(request);
      if ("answer" in fault) return answerOf(fault);
      if ("delayMilliseconds" in fault) {
        await clock.sleep(fault.delayMilliseconds, request.signal);
        return await transport.send(request);
      }
      if ("cut" in fault) {
        if (fault.cut === "after") for await (const _ of (await transport.send(request)).chunks);
        throw new Unreachable(`the connection was cut ${fault.cut} the request`);
      }
      const response = await transport.send(request);
      return { ...response, chunks: truncated(response.chunks, fault.dropAfterEvents) };
    },
  };
}

const reasons: Readonly<Record<number, string>> = {
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  409: "Conflict",
  410: "Expired",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
  504: "Timeout",
};

function answerOf({
  answer,
  retryAfterSeconds,
  message,
}: Extract<Fault, { answer: number }>): ClientResponse {
  const failed = answer >= 400;
  const status = {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: failed ? "Failure" : "Success",
    ...(failed && { message: message ?? `a planned fault: ${answer}`, reason: reasons[answer] ?? "" }),
    ...(retryAfterSeconds !== undefined && { details: { retryAfterSeconds } }),
    code: answer,
  };
  return {
    status: answer,
    headers: {
      "content-type": "application/json",
      ...(retryAfterSeconds !== undefined && { "retry-after": String(retryAfterSeconds) }),
    },
    chunks: (async function* () {
      yield Buffer.from(JSON.stringify(status));
    })(),
  };
}

/** Passes on whole lines until the limit, then fails. */
async function* truncated(chunks: AsyncIterable<Uint8Array>, events: number): AsyncGenerator<Uint8Array> {
  let left = events;
  if (left > 0) {
    for await (const chunk of chunks) {
      let from = 0;
      for (let at = chunk.indexOf(10); at >= 0 && left > 0; at = chunk.indexOf(10, from)) {
        yield chunk.subarray(from, at + 1);
        from = at + 1;
        left--;
      }
      if (left === 0) break;
      if (from < chunk.length) yield chunk.subarray(from);
    }
    if (left > 0) return;
  }
  throw new Unreachable("the connection was cut in the middle of the answer");
}
