// Serves the resource metrics API on this machine and registers it with the API server. Only clients with a
// certificate of the front proxy CA are served, that is the API server.
import { createAuthority, signServing } from "#authn";
import type { Clock, Log } from "#base";
import type { ApiClient } from "#client";
import type { ClusterView } from "#controllerkit";
import { listen } from "#http";
import { metricsApi } from "./metrics-api.ts";
import { nodeUsageSource } from "./node-usage-source.ts";
import { registerMetricsApi, servedName } from "./register.ts";

export interface MetricsServerOptions {
  readonly client: ApiClient;
  readonly view: ClusterView;
  readonly clock: Clock;
  /** Stops the server. */
  readonly signal: AbortSignal;
  readonly log: Log;
  /** CA of the client certificate that the API server presents to aggregated servers, as PEM. */
  readonly frontProxyAuthority: string;
}

const certificateDays = 3650;
const retryMilliseconds = 5000;

/** Runs the server; resolves when it has stopped after the signal aborted. */
export async function runMetricsServer(options: MetricsServerOptions): Promise<void> {
  const { client, view, clock, signal, log, frontProxyAuthority } = options;
  const { dialect } = client;
  const validity = { now: clock.now(), days: certificateDays };
  const authority = createAuthority({ commonName: "resource-metrics" }, validity);
  const serving = signServing(
    authority,
    { commonName: servedName(dialect) },
    [servedName(dialect)],
    validity,
  );
  const listener = await listen({
    host: "127.0.0.1",
    port: 0,
    tls: {
      cert: serving.certificate,
      key: serving.key,
      ca: frontProxyAuthority,
      requestCert: true,
      rejectUnauthorized: true,
    },
    handle: metricsApi({
      dialect,
      view: view.scoped(),
      figures: nodeUsageSource({ client, clock, signal, log }),
      now: () => clock.now(),
    }),
    now: () => clock.now(),
    onInternalError: (error) => log.warn("metrics request failed", { error: error.message }),
  });
  try {
    await registerWithRetry({ port: listener.address.port, authority: authority.certificate }, options);
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
  } finally {
    await listener.close();
  }
}

async function registerWithRetry(
  registration: { readonly port: number; readonly authority: string },
  { client, clock, signal, log }: MetricsServerOptions,
): Promise<void> {
  while (!signal.aborted)
    try {
      return await registerMetricsApi(client, registration, log);
    } catch (error) {
      log.warn("the resource metrics API is not registered yet", { error: (error as Error).message });
      await clock.sleep(retryMilliseconds, signal).catch(() => undefined);
    }
}
