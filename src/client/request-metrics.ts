// Metrics of requests to a server, with client-go's names.
import type { Clock, Metrics } from "#base";
import type { ClientRequest, ClientResponse, Transport } from "./transport.ts";

export interface RequestMetrics {
  /** Sends a request and counts it. */
  send(
    request: ClientRequest,
    send: (request: ClientRequest) => Promise<ClientResponse>,
  ): Promise<ClientResponse>;
  /** Records the time a request waited for the rate limiter. */
  waited(method: string, milliseconds: number): void;
}

const durations = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];
const sizes = [64, 256, 512, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216];

/** `host` is host and port of the server. */
export function requestMetrics(metrics: Metrics, clock: Clock, host: string): RequestMetrics {
  const labels = ["host", "verb"];
  const histogram = (name: string, help: string, buckets: readonly number[]) =>
    metrics.histogram({ name, help, labels, buckets, stability: "ALPHA" });
  const waited = histogram(
    "rest_client_rate_limiter_duration_seconds",
    "Time in seconds that requests wait for the client-side rate limiter, by verb and host.",
    durations,
  );
  const duration = histogram(
    "rest_client_request_duration_seconds",
    "Latency of requests in seconds until the start of the response, by verb and host.",
    durations,
  );
  const sent = histogram(
    "rest_client_request_size_bytes",
    "Size of request bodies in bytes, by verb and host.",
    sizes,
  );
  const received = histogram(
    "rest_client_response_size_bytes",
    "Size of response bodies with a Content-Length in bytes, by verb and host.",
    sizes,
  );
  const total = metrics.counter({
    name: "rest_client_requests_total",
    help: "Number of HTTP requests, by status code, method and host; the code of failed requests is <error>.",
    labels: ["code", "host", "method"],
    stability: "ALPHA",
  });
  return {
    waited: (method, milliseconds) => waited.with(host, method).observe(milliseconds / 1000),
    send: async (request, send) => {
      const { method, body } = request;
      const startedAt = clock.monotonic();
      if (body !== undefined) sent.with(host, method).observe(body.length);
      try {
        const response = await send(request);
        total.with(String(response.status), host, method).add();
        const length = Number(response.headers["content-length"] ?? Number.NaN);
        if (!Number.isNaN(length)) received.with(host, method).observe(length);
        return response;
      } catch (error) {
        total.with("<error>", host, method).add();
        throw error;
      } finally {
        duration.with(host, method).observe((clock.monotonic() - startedAt) / 1000);
      }
    },
  };
}

/** Wraps a transport to count its requests. */
export const counted = (transport: Transport, requests: RequestMetrics): Transport => ({
  send: (request) => requests.send(request, (each) => transport.send(each)),
  close: () => transport.close(),
});
