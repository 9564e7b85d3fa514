export { ActiveSpan } from "./active-span.ts";
export {
  type TracingConfiguration,
  EndpointError,
  collectorEndpoint,
  samplingRateProblem,
} from "./configuration.ts";
export { type ExporterOptions, type SpanExporter, type SpanOutcome, spanExporter } from "./exporter.ts";
export { type Contention, contentionPprof, watchContention } from "./contention.ts";
export { type LogRecord, encodeLogs, exportLogs } from "./otlp-logs.ts";
export { type CallFrame, type PprofProfile, type StackSample, encodePprof } from "./pprof.ts";
export { slowTraces } from "./slow-trace.ts";
export {
  type AttributeValue,
  type Attributes,
  type RemoteSpan,
  type SampledTrace,
  Span,
  type SpanEvent,
  type SpanOptions,
} from "./span.ts";
export { parseTraceparent, traceparentOf } from "./trace-context.ts";
export { type Tracer, tracer } from "./tracer.ts";
