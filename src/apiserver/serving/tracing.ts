// Reads the file of --tracing-config-file and creates the tracer and exporter it configures.
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import type { Clock, Log, Metrics } from "#base";
import { type Dialect, groupName } from "#dialect";
import { parseYaml } from "#schema";
import {
  type ActiveSpan,
  type Span,
  type SpanOutcome,
  type Tracer,
  type TracingConfiguration,
  collectorEndpoint,
  samplingRateProblem,
  slowTraces,
  spanExporter,
  tracer,
} from "#tracing";
import { checkKind, fieldsOf, numberOf, textOf, configError } from "../admission/config-reader.ts";
import { serverName } from "../bootstrap/identity-lease.ts";

/** Parses the file. Errors name the file and the field. Unknown fields are passed to `unknown`. */
export function readTracingConfiguration(
  file: string,
  dialect: Dialect,
  unknown: (field: string) => void = () => undefined,
): TracingConfiguration {
  try {
    const { value } = parseYaml(readFileSync(file, "utf8"));
    const root = fieldsOf(value, "");
    const group = groupName(dialect, { group: "apiserver.config", branded: true });
    if (value !== null)
      checkKind(
        root,
        ["v1alpha1", "v1beta1"].map((version) => `${group}/${version} TracingConfiguration`),
      );
    for (const field of Object.keys(root)) if (!knownFields.has(field)) unknown(field);
    const samplingRatePerMillion = numberOf(root["samplingRatePerMillion"], "samplingRatePerMillion");
    const problem = samplingRateProblem(samplingRatePerMillion);
    if (problem) throw configError("samplingRatePerMillion", problem);
    return { endpoint: endpointOf(textOf(root["endpoint"], "endpoint")), samplingRatePerMillion };
  } catch (error) {
    throw new Error(`${file}: ${(error as Error).message}`, { cause: error });
  }
}

const knownFields = new Set(["kind", "apiVersion", "endpoint", "samplingRatePerMillion"]);

function endpointOf(text: string): string {
  try {
    return collectorEndpoint(text);
  } catch (error) {
    throw configError("endpoint", (error as Error).message);
  }
}

export interface ServerTracing {
  readonly tracer: Tracer;
  readonly serverSpan: string;
  close(): Promise<void>;
}

export interface ServerTracingOptions {
  readonly configuration: TracingConfiguration;
  readonly dialect: Dialect;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly active?: ActiveSpan | undefined;
}

export function serverTracing(options: ServerTracingOptions): ServerTracing {
  const { configuration, dialect, clock, log, metrics, active } = options;
  const spans = metrics.counter({
    name: "apiserver_tracing_spans_total",
    help: "Number of trace spans, by outcome: exported, failed, or dropped because of a full queue.",
    stability: "ALPHA",
    labels: ["outcome"],
  });
  const exporter = spanExporter({
    endpoint: configuration.endpoint,
    resource: {
      "service.name": "apiserver",
      "service.instance.id": serverName(hostname(), dialect.cli.apiServer),
    },
    scope: "apiserver",
    clock,
    log,
    count: (outcome: SpanOutcome, count: number) => spans.with(outcome).add(count),
  });
  const { samplingRatePerMillion } = configuration;
  return {
    tracer: tracer({ samplingRatePerMillion, ended: (span) => exporter.ended(span), active }),
    serverSpan: dialect.wire.serverSpan,
    close: () => exporter.close(),
  };
}

/** Logs the steps of slow operations; with -v=4 all steps. */
export const slowTraceLog =
  (log: Log): ((span: Span) => void) =>
  (span) => {
    for (const line of slowTraces(span, { all: log.enabled(4) })) log.info(line);
  };
