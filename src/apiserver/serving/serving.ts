// Cross-cutting parts of the server: metrics, profiling, log files, and the shutdown lifecycle.
import {
  type Clock,
  type Log,
  type Metrics,
  type MetricsOptions,
  createMetrics,
  minorOf,
  systemClock,
  versionInfo,
} from "#base";
import type { Dialect } from "#dialect";
import { buildInfo, featureMetrics, healthMetrics } from "#http";
import { type Gate, flagValues } from "#options";
import type { ApiCall, PathHandler } from "#endpoints";
import { profilingPaths } from "../debug/profiling.ts";
import { statusPages } from "../debug/status-pages.ts";
import type { HealthObserver } from "../health/health.ts";
import { Lifecycle, type RequestMetrics, requestMetrics } from "#filters";
import { watchContention } from "#tracing";
import { metricsPath } from "../metrics/handler.ts";
import { runtimeMetrics } from "../metrics/runtime-metrics.ts";
import { logFiles } from "./log-files.ts";
import { apiserverOptions } from "../options/options.ts";
import { currentRelease } from "../options/observing.ts";
import type { ApiserverSettings } from "../options/settings.ts";

export interface ServingOptions {
  readonly dialect: Dialect;
  readonly settings: ApiserverSettings;
  /** Reports whether a feature gate is on. */
  readonly enabled: (gate: string) => boolean;
  /** All known gates with their stages. */
  readonly gates: readonly Gate[];
  readonly clock: Clock;
  readonly log: Log & { setVerbosity?(level: number): void };
  /** Reports whether a call is for a resource that is served. */
  readonly served: (call: ApiCall) => boolean;
}

export interface Serving {
  readonly lifecycle: Lifecycle;
  readonly metrics: Metrics;
  readonly requests: RequestMetrics;
  readonly paths: readonly PathHandler[];
  /** Paths to include in the list of all paths. */
  readonly shownPaths: readonly string[];
  readonly healthObserver: HealthObserver;
  /** Serves profiling, /statusz and /flagz on the debug socket. */
  readonly debugPaths: PathHandler;
  stop(): void;
}

export function servingFor(options: ServingOptions): Serving {
  const { dialect, settings, enabled, clock, log, served } = options;
  const release = minorOf(settings.release);
  const shown: MetricsOptions = {
    disabled: settings.disabledMetrics,
    allowedLabels: settings.allowMetricLabels,
    release: currentRelease,
    showHiddenFor: settings.showHiddenMetricsForVersion,
  };
  const metrics = createMetrics(shown);
  const requests = requestMetrics(metrics, "apiserver", served);
  const stopMeasuring = runtimeMetrics(metrics);
  buildInfo(metrics, dialect, versionInfo(release));
  featureMetrics(metrics, options);
  metrics.countMetrics();
  const health = healthMetrics(dialect, shown);
  const slisEnabled = enabled("ComponentSLIs");
  const lifecycle = new Lifecycle({
    // Connections use real time, whatever clock the requests use.
    clock: systemClock,
    delayMilliseconds: settings.shutdownDelayDuration,
    sendRetryAfter: settings.shutdownSendRetryAfter,
    watchGraceMilliseconds: settings.shutdownWatchTerminationGracePeriod,
    requestTimeoutMilliseconds: settings.requestTimeout,
    log,
  });
  const { setVerbosity } = log;
  const contention = settings.profiling && settings.contentionProfiling ? watchContention() : undefined;
  const profiling = profilingPaths({ clock, contention, ...(setVerbosity && { setVerbosity }) });
  // Release 1.27 does not serve these pages on its port; they are available on the debug socket only.
  const pages = statusPages({
    program: dialect.cli.apiServer,
    version: versionInfo(release),
    startedAt: clock.now(),
    now: () => clock.now(),
    flags: flagValues(apiserverOptions(dialect), settings),
  });
  const debugPaths: PathHandler = async (call) => (await pages(call)) ?? (await profiling(call));
  return {
    lifecycle,
    metrics,
    requests,
    debugPaths,
    healthObserver: health,
    paths: [
      metricsPath("/metrics", metrics, settings.profiling ? metrics.reset : undefined),
      ...(slisEnabled
        ? [metricsPath("/metrics/slis", health, settings.profiling ? health.reset : undefined)]
        : []),
      ...(settings.enableLogsHandler ? [logFiles("/logs", "/var/log")] : []),
      ...(settings.profiling ? [profiling] : []),
    ],
    shownPaths: [
      "/metrics",
      ...(slisEnabled ? ["/metrics/slis"] : []),
      ...(settings.enableLogsHandler ? ["/logs"] : []),
    ],
    stop: () => {
      stopMeasuring();
      contention?.stop();
    },
  };
}
