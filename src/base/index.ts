export { AbortListeners } from "./abort-listeners.ts";
export { type ClientLimit, clientLimit } from "./client-limit.ts";
export {
  firstRelease,
  lastRelease,
  minorOf,
  releaseVersion,
  releases,
  versionOfRelease,
  versionText,
} from "./release.ts";
export { type Clock, type VirtualClock, systemClock, virtualClock } from "./clock.ts";
export {
  ApiError,
  type FieldError,
  type FieldErrorType,
  type ResourceName,
  LiteralValue,
  omitted,
  type StatusCause,
  type StatusDetails,
  alreadyExists,
  badRequest,
  conflict,
  duplicate,
  expired,
  fieldErrorText,
  fieldErrorsText,
  forbidden,
  forbiddenField,
  gone,
  internal,
  invalid,
  invalidValue,
  maxFieldErrors,
  methodNotAllowed,
  notAcceptable,
  notFound,
  notSupported,
  required,
  plainError,
  serviceUnavailable,
  timeout,
  tooLarge,
  tooLong,
  tooMany,
  tooManyRequests,
  unauthorized,
  untypedValue,
  unsupportedMediaType,
} from "./api-error.ts";
export { type CronSchedule, CronError, isTimeZone, parseCron, timeInZone } from "./cron-schedule.ts";
export { type Steps, finishSteps, runSteps } from "./steps.ts";
export { type Caller, TimeSlice } from "./time-slice.ts";
export { makeFolder, makeFolderAsync } from "./make-folder.ts";
export { removeTree } from "./remove-tree.ts";
export { nodeHttp2 } from "./node-http2.ts";
export { SortedMap } from "./sorted-map.ts";
export { withoutTrailing } from "./without-trailing.ts";
export {
  type LabelSelectorLike,
  type Requirement,
  type Selectable,
  type Selector,
  fieldOf,
  fromLabelSelector,
  labelOf,
  labelSelectorText,
  parseFieldSelector,
  selectEverything,
  selector,
} from "./selector.ts";
export {
  LabelError,
  SelectorError,
  isLabelValue,
  isQualifiedName,
  parseLabelSelector,
} from "./label-selector-text.ts";
export { exponentialBuckets } from "./exponential-buckets.ts";
export { type Histogram } from "./histogram.ts";
export { type Summary } from "./summary.ts";
export { type Log, type LogOptions, type RootLog, type VerboseModule, createLog, silentLog } from "./log.ts";
export { type LogFields, type LogFormat, dropNotice } from "./log-format.ts";
export { type LogSink, type LogSinkOptions, logSink } from "./log-sink.ts";
export {
  type Counter,
  type Family,
  type Gauge,
  type HistogramOptions,
  type MetricOptions,
  type Metrics,
  type MetricsOptions,
  createMetrics,
} from "./metrics.ts";
export { type OneQueueMetrics, type QueueMetrics, queueMetrics } from "./queue-metrics.ts";
export { builtFrom } from "./built-from.ts";
export { processMetrics } from "./process-metrics.ts";
export { versionInfo } from "./version-info.ts";
export { processStart } from "./process-start.ts";
export { type PemBlock, pemBlocks } from "./pem.ts";
export { writePrivate } from "./private-file.ts";
export { Redacted, redacted } from "./redacted.ts";
export {
  DurationError,
  canonicalDuration,
  durationMillis,
  durationOfMillis,
  formatDuration,
  parseDuration,
} from "./duration.ts";
export { type IntOrString, isPercent } from "./int-or-string.ts";
export {
  type Quantity,
  QuantityError,
  type QuantityFormat,
  addQuantity,
  canonicalQuantity,
  compareQuantity,
  formatQuantity,
  isWholeQuantity,
  parseQuantity,
  quantityMilliValue,
  quantityOf,
  quantityValue,
  scaledValue,
  subtractQuantity,
} from "./quantity.ts";
export {
  type Instant,
  TimeError,
  canonicalMicroTime,
  microTimeOrZero,
  zeroMicroTime,
  canonicalTime,
  formatMicroTime,
  formatTime,
  goTime,
  isZeroTime,
  microTimeOfMillis,
  millisOfTime,
  parseMicroTime,
  parseTime,
  timeOfMillis,
} from "./time.ts";
export { responseErrorText } from "./response-error-text.ts";
export { deepCopy } from "./deep-copy.ts";
export { errnoText, fileErrorText } from "./file-error.ts";
export { flatText } from "./flat-text.ts";
export { urlParts, urlProblem, urlScheme } from "./go-url.ts";
export { goBytes, goFloat, goPlain, goSyntax, goType, jsonKind } from "./go-value.ts";
export { goQuoted, unprintableIn, withoutUnprintable } from "./unprintable.ts";
export { newUuid } from "./uuid.ts";
export { deepFreeze } from "./deep-freeze.ts";
export { own, setOwn } from "./own.ts";
export { addressProblem } from "./address-problem.ts";
export { hostAndPort } from "./host-and-port.ts";
export { type IpBytes, type IpScope, embeddedIpv4, formatIp, ipScope, parseIp } from "./ip-address.ts";
