export { ApiError } from "#base";
export {
  type ClientRequest,
  type ClientResponse,
  type Transport,
  Unreachable,
  inProcess,
  textOf,
  withUserAgent,
} from "./transport.ts";
export { type ConnectionSecrets, type HttpsOptions, type HttpsTransport, https } from "./https.ts";
export {
  type Address,
  type AnyObject,
  type ApiClient,
  type DeleteManyParameters,
  type DeleteParameters,
  type Draft,
  type KindSchema,
  type ListParameters,
  type ListResult,
  type PatchParameters,
  type PatchType,
  type ResourceClient,
  type ResourceKind,
  type SentForm,
  type WatchEvent,
  type WatchParameters,
  type WriteParameters,
  apiClient,
  watch as watchPath,
} from "./client.ts";
export { kinds } from "./kinds.ts";
export { rateLimiter, tokenBucket } from "./rate-limiter.ts";
export { counted, requestMetrics } from "./request-metrics.ts";
export {
  type EventObserver,
  type EventRecorder,
  type EventRecorderOptions,
  type EventType,
  type RunningEventRecorder,
  eventRecorder,
  loggedEvents,
} from "./events/recorder.ts";
export { type Informer, type InformerEvent, type InformerOptions, informer, isExpired } from "./informer.ts";
export {
  type ClientConfig,
  ClientConfigError,
  type ClusterEntry,
  type ContextEntry,
  type UserEntry,
  connectionOf,
  parseClientConfig,
  readClientConfig,
  singleContext,
  writeClientConfig,
} from "./client-config.ts";
export { credentialProgramMetrics } from "./credential-program-metrics.ts";
export { type Fault, type FaultRule, type FaultyTransport, isWatch, withFaults } from "./faults.ts";
export { type Webhook, WebhookError, type WebhookOptions, webhook, webhookConnection } from "./webhook.ts";
