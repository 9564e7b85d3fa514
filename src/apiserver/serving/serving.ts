// Everything around the endpoints that settings switch: limits, headers, compression, counting, profiling,
// and the way out.
import { type Clock, type Log, type Metrics, createMetrics, systemClock } from "#base";
import type { Dialect } from "#dialect";
import type { ApiCall } from "../api-call.ts";
import { profilingPaths } from "../debug/profiling.ts";
import type { HealthObserver } from "../health/health.ts";
import { gate } from "../lifecycle/gate.ts";
import { Lifecycle } from "../lifecycle/lifecycle.ts";
import { metricsPath } from "../metrics/handler.ts";
import { healthMetrics } from "../metrics/health-metrics.ts";
import { processMetrics } from "../metrics/process-metrics.ts";
import { type RequestMetrics, requestMetrics } from "../metrics/request-metrics.ts";
import type { PathHandler } from "../router.ts";
import { logFiles } from "./log-files.ts";
import type { ApiserverSettings } from "../settings-of.ts";
import type { ApiStep } from "../steps.ts";
import { deadline } from "./deadline.ts";
import { goAway } from "./go-away.ts";
import { inFlightLimit } from "./in-flight.ts";
import { largeAnswers } from "./large-answers.ts";
import { crossOrigin, strictTransport } from "./response-headers.ts";

export interface ServingOptions {
  readonly dialect: Dialect;
  readonly settings: ApiserverSettings;
  /** Whether a feature gate is on. */
  readonly enabled: (gate: string) => boolean;
  readonly clock: Clock;
  readonly log: Log & { setVerbosity?(level: number): void };
  /** Whether a call is about a resource that is served. */
  readonly served: (call: ApiCall) => boolean;
}

/** Steps by where they stand in the pipeline. */
export interface ServingSteps {
  /** Around the rescue of errors. */
  readonly outer: readonly ApiStep[];
  /** Before the caller is known. */
  readonly early: readonly ApiStep[];
  /** When the caller is known, before it is decided whether they may. */
  readonly late: readonly ApiStep[];
  /** Around the endpoint itself. */
  readonly inner: readonly ApiStep[];
}

export interface Serving {
  readonly lifecycle: Lifecycle;
  readonly metrics: Metrics;
  readonly requests: RequestMetrics;
  readonly steps: ServingSteps;
  readonly paths: readonly PathHandler[];
  /** Those of them that the list of all paths names. */
  readonly shownPaths: readonly string[];
  readonly healthObserver: HealthObserver;
  /** Profiling alone, for the debug socket. */
  readonly profiling: PathHandler;
  stop(): void;
}

export function servingFor({ dialect, settings, enabled, clock, log, served }: ServingOptions): Serving {
  const metrics = createMetrics({
    disabled: settings.disabledMetrics,
    allowedLabels: settings.allowMetricLabels,
  });
  const requests = requestMetrics(metrics, "apiserver", served);
  const stopMeasuring = processMetrics(metrics);
  buildInfo(metrics, dialect);
  const health = healthMetrics(dialect);
  const told = enabled("ComponentSLIs");
  const lifecycle = new Lifecycle({
    // Connections live in real time, whatever clock the requests see.
    clock: systemClock,
    delayMilliseconds: settings.shutdownDelayDuration,
    sendRetryAfter: settings.shutdownSendRetryAfter,
    watchGraceMilliseconds: settings.shutdownWatchTerminationGracePeriod,
    requestTimeoutMilliseconds: settings.requestTimeout,
  });
  const { setVerbosity } = log;
  const profiling = profilingPaths({ clock, ...(setVerbosity && { setVerbosity }) });
  return {
    lifecycle,
    metrics,
    requests,
    profiling,
    steps: {
      outer: [
        gate({
          lifecycle,
          observer: requests,
          clock,
          streamBytesPerSecond: settings.maxConnectionBytesPerSec,
        }),
      ],
      early: [
        ...(settings.strictTransportSecurityDirectives.length > 0
          ? [strictTransport(settings.strictTransportSecurityDirectives)]
          : []),
        ...(settings.goawayChance > 0 ? [goAway(settings.goawayChance)] : []),
        deadline({ clock, requestTimeoutMilliseconds: settings.requestTimeout }),
        ...(settings.corsAllowedOrigins.length > 0 ? [crossOrigin(settings.corsAllowedOrigins)] : []),
      ],
      late: [
        inFlightLimit({
          reading: settings.maxRequestsInflight,
          writing: settings.maxMutatingRequestsInflight,
          queue: settings.enablePriorityAndFairness && enabled("APIPriorityAndFairness"),
          clock,
          refused: (call) => requests.refused(call),
        }),
      ],
      inner: [largeAnswers({ clock, compress: enabled("APIResponseCompression") })],
    },
    healthObserver: health,
    paths: [
      metricsPath("/metrics", metrics),
      ...(told ? [metricsPath("/metrics/slis", health.metrics)] : []),
      ...(settings.enableLogsHandler ? [logFiles("/logs", "/var/log")] : []),
      ...(settings.profiling ? [profiling] : []),
    ],
    shownPaths: [
      "/metrics",
      ...(told ? ["/metrics/slis"] : []),
      ...(settings.enableLogsHandler ? ["/logs"] : []),
    ],
    stop: stopMeasuring,
  };
}

function buildInfo(metrics: Metrics, dialect: Dialect): void {
  metrics
    .gauge({
      name: `${dialect.data.metricPrefix}build_info`,
      help: "Always 1; the labels tell what runs.",
      stability: "ALPHA",
      labels: ["platform", "runtime"],
    })
    .with(`${process.platform}/${process.arch}`, process.version)
    .set(1);
}
