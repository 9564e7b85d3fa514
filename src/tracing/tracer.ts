// Decides which requests are traced, and begins the span of each.
import { randomBytes } from "node:crypto";
import type { ActiveSpan } from "./active-span.ts";
import { type Attributes, type RemoteSpan, type SampledTrace, Span } from "./span.ts";

/** Given a request, begins its span; undefined when it is not sampled. */
export interface Tracer {
  /**
   * The span of a request that came from outside. A public endpoint begins a trace of its own and links to the
   * one it was sent; otherwise the request continues the sender's trace, sampled as the sender decided.
   */
  serverSpan(
    name: string,
    attributes: () => Attributes,
    sender: RemoteSpan | undefined,
    publicEndpoint: boolean,
  ): Span | undefined;
  /** A trace that begins here. */
  rootSpan(name: string, attributes?: Attributes): Span | undefined;
}

export interface TracerOptions {
  readonly samplingRatePerMillion: number;
  ended(span: Span): void;
  readonly newTraceId?: () => string;
  /** Where code that is handed no span finds the one it runs in. */
  readonly active?: ActiveSpan | undefined;
}

const randomTraceId = (): string => randomBytes(16).toString("hex");

export function tracer(options: TracerOptions): Tracer {
  const { samplingRatePerMillion: rate, newTraceId = randomTraceId, ended, active } = options;
  const traceOf = (traceId: string): SampledTrace => ({
    traceId,
    ended,
    ...(active && { enter: (span, run) => active.enter(span, run) }),
  });
  const sampledTrace = (): SampledTrace | undefined => {
    if (rate <= 0) return undefined;
    const traceId = newTraceId();
    return isSampled(traceId, rate) ? traceOf(traceId) : undefined;
  };
  return {
    serverSpan: (name, attributes, sender, publicEndpoint) => {
      if (sender && !publicEndpoint)
        return sender.sampled
          ? new Span(name, attributes, {
              kind: "server",
              trace: traceOf(sender.traceId),
              remoteParent: sender,
            })
          : undefined;
      const trace = sampledTrace();
      return trace && new Span(name, attributes, { kind: "server", trace, link: sender });
    },
    rootSpan: (name, attributes) => {
      const trace = sampledTrace();
      return trace && new Span(name, attributes, { trace });
    },
  };
}

/** By the last eight bytes of the id, so that all who see the trace decide alike. */
export const isSampled = (traceId: string, ratePerMillion: number): boolean =>
  Number.parseInt(traceId.slice(16, 29), 16) / 2 ** 52 < ratePerMillion / 1e6;
