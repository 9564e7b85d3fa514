// The agent's transport to the API server: limits the request rate, and counts and times every request.
// Events have a separate limiter. Heartbeats are exempt and have a short timeout: a busy node must not look
// dead.
import type { Clock, Metrics } from "#base";
import { type ClientRequest, type Transport, Unreachable, rateLimiter, requestMetrics } from "#client";

export interface ApiTransportOptions {
  readonly clock: Clock;
  readonly metrics: Metrics;
  /** Requests per second and the burst; 0 means unlimited. */
  readonly perSecond: number;
  readonly burst: number;
  /** Host and port, the value of the metrics' `host` label. */
  readonly host: string;
}

/** Reports whether a request concerns the node's lease or the node object. */
const isHeartbeat = ({ path }: ClientRequest): boolean =>
  /\/leases(\/|\?|$)|\/nodes\/[^/?]+(\/status)?(\?|$)/.test(path);
const isExempt = (request: ClientRequest): boolean =>
  /\/events(\/|\?|$)/.test(request.path) || isHeartbeat(request);
/** Timeout of a heartbeat. By then the next one is due, and a node may miss a few. */
const heartbeatMilliseconds = 10_000;

/** `renew` abandons connections that may be dead, after a heartbeat has failed. */
export function apiTransport(
  transport: Transport & { renew?(): void },
  { clock, metrics, perSecond, burst, host }: ApiTransportOptions,
): Transport {
  const take = rateLimiter(clock, perSecond, burst);
  const never = new AbortController().signal;
  const requests = requestMetrics(metrics, clock, host);
  return {
    close: () => transport.close(),
    send: async (request) => {
      const startedAt = clock.monotonic();
      if (!isExempt(request)) await take(request.signal ?? never);
      requests.waited(request.method, clock.monotonic() - startedAt);
      try {
        return await requests.send(request, (each) =>
          transport.send(isHeartbeat(each) ? { ...each, timeoutMilliseconds: heartbeatMilliseconds } : each),
        );
      } catch (error) {
        if (isHeartbeat(request) && error instanceof Unreachable) transport.renew?.();
        throw error;
      }
    },
  };
}
