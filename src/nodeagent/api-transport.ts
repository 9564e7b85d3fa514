// The agent's way to the API server: no more requests a second than allowed, each counted and timed. Events
// have a limit of their own, and heartbeats wait for nobody, least of all for an answer that does not come: a
// node that is busy must not look dead.
import type { Clock, Metrics } from "#base";
import { type ClientRequest, type Transport, Unreachable, rateLimiter } from "#client";

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

const durations = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];
const sizes = [64, 256, 512, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216];

/** `renew` leaves connections behind that may be dead. */
export function apiTransport(
  transport: Transport & { renew?(): void },
  { clock, metrics, perSecond, burst, host }: ApiTransportOptions,
): Transport {
  const take = rateLimiter(clock, perSecond, burst);
  const never = new AbortController().signal;
  const labels = ["host", "verb"];
  const timed = (name: string, help: string, buckets: readonly number[]) =>
    metrics.histogram({ name, help, labels, buckets, stability: "ALPHA" });
  const waited = timed(
    "rest_client_rate_limiter_duration_seconds",
    "How long requests to the API server waited for the limit on their number, in seconds.",
    durations,
  );
  const took = timed(
    "rest_client_request_duration_seconds",
    "How long the API server took until its answer began, in seconds.",
    durations,
  );
  const sent = timed(
    "rest_client_request_size_bytes",
    "Sizes of the bodies sent to the API server, in bytes.",
    sizes,
  );
  const got = timed(
    "rest_client_response_size_bytes",
    "Sizes of the bodies that the API server sent, in bytes, where it said them beforehand.",
    sizes,
  );
  const total = metrics.counter({
    name: "rest_client_requests_total",
    help: "Requests to the API server, by the status of the answer; <error> where there was none.",
    labels: ["code", "host", "method"],
    stability: "ALPHA",
  });
  return {
    close: () => transport.close(),
    send: async (request) => {
      const { method, body } = request;
      const begun = clock.now();
      if (!isExempt(request)) await take(request.signal ?? never);
      const asked = clock.now();
      waited.with(host, method).observe((asked - begun) / 1000);
      if (body !== undefined) sent.with(host, method).observe(body.length);
      try {
        const response = await transport.send(
          isHeartbeat(request) ? { ...request, timeoutMilliseconds: heartbeatMilliseconds } : request,
        );
        total.with(String(response.status), host, method).add();
        const length = Number(response.headers["content-length"] ?? Number.NaN);
        if (!Number.isNaN(length)) got.with(host, method).observe(length);
        return response;
      } catch (error) {
        total.with("<error>", host, method).add();
        if (isHeartbeat(request) && error instanceof Unreachable) transport.renew?.();
        throw error;
      } finally {
        took.with(host, method).observe((clock.now() - asked) / 1000);
      }
    },
  };
}
