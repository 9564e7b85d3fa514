// The HTTP port of programs that are clients of the API server: health, metrics, and metrics of health
// checks.
import { type IncomingMessage, createServer } from "node:http";
import type { Metrics } from "#base";
import type { Dialect } from "#dialect";
import {
  type HealthCheck,
  type Reply,
  checkReply,
  checksReply,
  healthMetrics,
  metricsReset,
  parseQuery,
  plainReply,
} from "#http";

export interface HealthPortOptions {
  readonly address: string;
  readonly port: number;
  readonly dialect: Dialect;
  readonly metrics: Metrics;
  /** Evaluated for each request, since parts may start later. */
  readonly checks: () => readonly HealthCheck[];
  /** Whether the results of health checks are exported as metrics. */
  readonly exportsHealthMetrics: boolean;
  /**
   * Whether DELETE /metrics resets metrics: supported by the original's scheduler, but not by its controller
   * manager.
   */
  readonly resetsMetrics: boolean;
}

/** The original serves /healthz only; the others support probes written for the API server. */
const endpoints = ["healthz", "livez", "readyz"];
const ping: HealthCheck = { name: "ping", check: () => undefined };

/** Starts listening; resolves with a function that stops it. */
export async function openHealthPort(options: HealthPortOptions): Promise<() => void> {
  const handle = handlerFor(options);
  const server = createServer((request, response) => {
    void handle(request).then(({ status, headers, body }) =>
      response.writeHead(status, headers as Record<string, string>).end(body),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, options.address, resolve);
  });
  return () => {
    server.closeAllConnections();
    server.close();
  };
}

function handlerFor({ dialect, metrics, checks, exportsHealthMetrics, resetsMetrics }: HealthPortOptions) {
  const health = healthMetrics(dialect);
  const text = (body: string, version = ""): Reply => ({
    status: 200,
    headers: { "content-type": `text/plain; ${version}charset=utf-8` },
    body: Buffer.from(body),
  });
  return async ({ url = "", method }: Pick<IncomingMessage, "url" | "method">): Promise<Reply> => {
    const [path = "", search = ""] = url.split("?", 2);
    if (path === "/metrics" && method === "DELETE" && resetsMetrics) {
      metrics.reset();
      return text(metricsReset);
    }
    if (path === "/metrics") return text(metrics.expose(), "version=0.0.4; ");
    if (path === "/metrics/slis" && exportsHealthMetrics) {
      if (method !== "DELETE") return text(health.expose(), "version=0.0.4; ");
      health.reset();
      return text(metricsReset);
    }
    const [, endpoint = "", name] = /^\/(\w+)(?:\/(.+))?$/.exec(path) ?? [];
    const all = checks().length === 0 ? [ping] : checks();
    const one = all.find((check) => check.name === name);
    if (!endpoints.includes(endpoint) || (name !== undefined && !one))
      return plainReply(404, "404 page not found");
    if (one) return await checkReply(one);
    return await checksReply({ endpoint, checks: all, query: parseQuery(search), observer: health });
  };
}
