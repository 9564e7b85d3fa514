// The agent's way to the API server: no more requests a second than allowed, each counted and timed. Events
// have a limit of their own, and heartbeats wait for nobody, least of all for an answer that does not come: a
// node that is busy must not look dead.
import type { Clock, Metrics } from "#base";
import { type ClientRequest, type Transport, Unreachable, rateLimiter, requestMetrics } from "#client";

export interface ApiTransportOptions {
  readonly clock: Clock;
  readonly metrics: Metrics;
  /** Requests a second and how many may come together; 0 is no limit. */
  readonly perSecond: number;
  readonly burst: number;
  /** Host and port, as the label of the figures. */
  readonly host: string;
}

/** The node's lease and the node's own object. */
const isHeartbeat = ({ path }: ClientRequest): boolean =>
  /\/leases(\/|\?|$)|\/nodes\/[^/?]+(\/status)?(\?|$)/.test(path);
const isExempt = (request: ClientRequest): boolean =>
  /\/events(\/|\?|$)/.test(request.path) || isHeartbeat(request);
/** How long a heartbeat may take; by then the next one is due, and a node may miss a few. */
const heartbeatMilliseconds = 10_000;

/** `renew` leaves connections behind that may be dead. */
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
      const begun = clock.now();
      if (!isExempt(request)) await take(request.signal ?? never);
      requests.waited(request.method, clock.now() - begun);
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
