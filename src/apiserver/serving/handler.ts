// Assembles the request handler: the filter chain, then the router for resources and the handlers of other
// paths.
import type { AdmissionChain } from "#admission";
import type { Audit } from "#audit";
import { AbortListeners, type Clock, type Log, minorOf, versionOfRelease } from "#base";
import type { Dialect } from "#dialect";
import {
  ApiCall,
  type Catalog,
  type PathHandler,
  discovery,
  openApi,
  recordedForm,
  router,
} from "#endpoints";
import type { FlowControl } from "#fairness";
import {
  attributesOf,
  authorizeOrThrow,
  filterDurations,
  filters,
  logUnexpected,
  newAuditId,
  requestHandler,
} from "#filters";
import type { Call, Reply } from "#http";
import type { Gates } from "#options";
import type { RegistrySettings } from "#registry";
import type { Authentication } from "../authentication/authenticators.ts";
import { openIdHandler } from "../authentication/openid.ts";
import type { Authorizers } from "../authorization/authorizers.ts";
import { type HealthObserver, type HealthPaths, healthReply } from "../health/health.ts";
import type { AggregationMetrics } from "../metrics/aggregation-metrics.ts";
import type { ApiserverSettings } from "../options/settings.ts";
import { flowControlDumps } from "./flow-control.ts";
import { rootPaths } from "./root-paths.ts";
import { externalAddress } from "./secure-port.ts";
import type { Serving } from "./serving.ts";
import { type ServerTracing, slowTraceLog } from "./tracing.ts";

export interface HandlerParts {
  readonly dialect: Dialect;
  readonly settings: ApiserverSettings;
  readonly registrySettings: RegistrySettings;
  readonly gates: Gates;
  readonly clock: Clock;
  readonly log: Log;
  readonly serving: Serving;
  readonly identities: Authentication;
  readonly access: Authorizers;
  readonly admission: AdmissionChain;
  readonly served: Catalog;
  readonly health: HealthPaths;
  readonly flowControl: FlowControl | undefined;
  readonly tracing: ServerTracing | undefined;
  readonly audit: Audit | undefined;
  /** Handles paths of aggregated API services before any other non-resource path. */
  readonly aggregation: { handle: PathHandler };
  readonly aggregated: Pick<AggregationMetrics, "described" | "discovered">;
  readonly timelinePaths: readonly PathHandler[];
  readonly onError: (message: string, fields: Record<string, unknown>) => void;
  readonly signal: AbortSignal;
}

export interface ServerHandler {
  readonly handle: (call: Call) => Promise<Reply>;
  /**
   * Handles a call of the server itself, which passes no filters: it is not authorized, counted, limited or
   * recorded.
   */
  readonly handleOwn: (call: Call) => Promise<Reply>;
}

export function serverHandler(parts: HandlerParts): ServerHandler {
  const { dialect, settings, gates, clock, log, serving, served, audit, flowControl, onError } = parts;
  const { authorizer, explainer } = parts.access;
  const route = router(
    served,
    {
      admission: parts.admission,
      clock,
      settings: parts.registrySettings,
      gates: {
        watchList: gates.enabled("WatchList"),
        chunking: gates.enabled("APIListChunking"),
        remainingItemCount: gates.enabled("RemainingItemCount"),
        watchFromStore: gates.enabled("WatchFromStorageWithoutResourceVersion"),
      },
      mayCreate: (call) => authorizeOrThrow(authorizer, { ...attributesOf(call), verb: "create" }),
      minRequestTimeoutSeconds: settings.minRequestTimeout,
      deleteCollectionWorkers: settings.deleteCollectionWorkers,
      closing: new AbortListeners(parts.signal),
      watchEvents: (kind) => serving.requests.watchEvents(kind),
      onSlow: slowTraceLog(log),
    },
    otherPaths(parts),
  );
  const handle = requestHandler(
    filters({
      dialect,
      clock,
      log,
      lifecycle: serving.lifecycle,
      metrics: serving.requests,
      authenticator: parts.identities.authenticator,
      authorizer,
      explainer,
      selectors: gates.enabled("AuthorizeWithSelectors"),
      unexpected: logUnexpected(onError),
      streamBytesPerSecond: settings.maxConnectionBytesPerSec,
      strictTransportDirectives: settings.strictTransportSecurityDirectives,
      goawayChance: settings.goawayChance,
      endsUnauthenticated: gates.enabled("UnauthenticatedHTTP2DOSMitigation"),
      requestTimeoutMilliseconds: settings.requestTimeout,
      corsAllowedOrigins: settings.corsAllowedOrigins,
      inFlight: {
        reading: settings.maxRequestsInflight,
        writing: settings.maxMutatingRequestsInflight,
      },
      ...(flowControl && { flowControl }),
      compress: gates.enabled("APIResponseCompression"),
      tracing: parts.tracing,
      audit: audit && {
        audit,
        jsonOf: (reply, call) => recordedForm(reply, call, served, dialect),
      },
    }),
    route,
    filterDurations(serving.metrics),
  );
  return { handle, handleOwn: (call) => route(new ApiCall(call, newAuditId(call))) };
}

/** Returns the handlers of non-resource paths; the first that returns a reply wins. */
function otherPaths(parts: HandlerParts): PathHandler[] {
  const { dialect, settings, serving, served, health, flowControl, aggregation, onError } = parts;
  const { issuer, verifying } = parts.identities;
  const external = externalAddress(settings);
  const release = minorOf(settings.release);
  const healthObserver: HealthObserver = {
    checked: (endpoint, name, fine) => serving.healthObserver.checked(endpoint, name, fine),
    failed: (endpoint, names, report) =>
      parts.log.verbose(2, `${names.join(",")} check failed: ${endpoint}\n${report}`),
  };
  return [
    (call) => aggregation.handle(call),
    discovery(served, dialect, {
      serverAddress: () => external,
      aggregated: () => parts.aggregated.discovered(),
      gates: {
        aggregated: parts.gates.enabled("AggregatedDiscoveryEndpoint"),
        storageHashes: parts.gates.enabled("StorageVersionHash"),
        second: release >= 30,
      },
    }).handle,
    (call) => healthReply(health, call, healthObserver),
    rootPaths(() => served, { health, more: serving.shownPaths, release }),
    openApi(() => served, dialect, {
      described: (seconds) => parts.aggregated.described(seconds),
      hasLogs: settings.enableLogsHandler,
      enums: parts.gates.enabled("OpenAPIEnums"),
      version: versionOfRelease(release),
    }),
    openIdHandler({
      issuer,
      verifying,
      jwksUri: settings.serviceAccountJwksUri,
      externalAddress: external,
      onError,
    }),
    ...parts.timelinePaths,
    ...serving.paths,
    ...(flowControl ? [flowControlDumps(flowControl)] : []),
  ];
}
