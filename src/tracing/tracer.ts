// Decides which requests are traced, and starts their spans.
import { randomBytes } from "node:crypto";
import type { ActiveSpan } from "./active-span.ts";
import { type Attributes, type RemoteSpan, type SampledTrace, Span } from "./span.ts";

/** Starts the span of a request; its methods return undefined if the request is not sampled. */
export interface Tracer {
  /**
   * Starts the span of an incoming request. A public endpoint starts a new trace and links to the sender's;
   * otherwise the request continues the sender's trace and sampling decision.
   */
  serverSpan(
    name: string,
    attributes: () => Attributes,
    sender: RemoteSpan | undefined,
    publicEndpoint: boolean,
  ): Span | undefined;
  /** Starts a new trace. */
  rootSpan(name: string, attributes?: Attributes): Span | undefined;
}

export interface TracerOptions {
  readonly samplingRatePerMillion: number;
  ended(span: Span): void;
  readonly newTraceId?: () => string;
  /** Provides the active span to code that is not passed one. */
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

/** Decides by the last eight bytes of the id, so that all participants decide alike. */
export const isSampled = (traceId: string, ratePerMillion: number): boolean =>
  Number.parseInt(traceId.slice(16, 29), 16) / 2 ** 52 < ratePerMillion / 1e6;
