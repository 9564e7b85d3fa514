// All wiring of the API server: from options to something that answers.
import { randomUUID } from "node:crypto";
import { type AdmissionPlugin, admissionChain, namespaceLifecycle } from "#admission";
import type { Authenticator } from "#authn";
import type { Authorizer } from "#authz";
import { type Clock, systemClock } from "#base";
import type { Dialect } from "#dialect";
import { type Call, type Reply, pipeline } from "#http";
import { type ApiObject, type RegistrySettings, Resource, type StorageMedia, type Strategy } from "#registry";
import type { Store } from "#store";
import { DirectSource, StoreReflector, type CachedObject } from "#watchcache";
import { ApiCall } from "./api-call.ts";
import { type Catalog, type VirtualGroup, catalog } from "./catalog.ts";
import { discovery } from "./discovery/discovery.ts";
import type { EndpointContext } from "./endpoints/context.ts";
import { type HealthObserver, type HealthPaths, healthReply } from "./health/health.ts";
import { type PathHandler, router } from "./router.ts";
import type { Serves } from "./serving/served-apis.ts";
import type { ServingSteps } from "./serving/serving.ts";
import {
  accessOf,
  allowed,
  authenticate,
  authorize,
  commonHeaders,
  impersonate,
  newAuditId,
  recover,
} from "./steps.ts";

export interface CoreOptions {
  readonly dialect: Dialect;
  readonly store: Store;
  readonly storePrefix: string;
  readonly storageMedia: StorageMedia;
  readonly strategies: readonly Strategy[];
  readonly settings: RegistrySettings;
  readonly clock?: Clock;
  /** Resources (by name) that are read straight from the store; "all" turns the cache off. */
  readonly uncached?: ReadonlySet<string> | "all";
  readonly minRequestTimeoutSeconds: number;
  readonly deleteCollectionWorkers: number;
  readonly watchList: boolean;
  readonly onError: (message: string, fields: Record<string, unknown>) => void;
}

/** The resources and their caches, before anybody may ask. */
export interface Core {
  readonly options: CoreOptions;
  readonly clock: Clock;
  readonly resources: ReadonlyMap<string, Resource>;
  readonly feed: StoreReflector;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export function buildCore(options: CoreOptions): Core {
  const clock = options.clock ?? systemClock;
  const stopping = new AbortController();
  const feed = new StoreReflector({
    store: options.store,
    prefix: `${options.storePrefix}/`,
    clock,
    signal: stopping.signal,
    onRestart: (error) =>
      options.onError("the watch of the store ended and starts over", { error: (error as Error).message }),
  });
  const resources = new Map<string, Resource>();
  for (const strategy of options.strategies) {
    const resource = new Resource(strategy, {
      dialect: options.dialect,
      store: options.store,
      storePrefix: options.storePrefix,
      media: options.storageMedia,
    });
    const direct =
      !alwaysCached(strategy) && (options.uncached === "all" || options.uncached?.has(strategy.resource));
    resource.source = direct
      ? new DirectSource(options.store, resource.prefix, resource.reader)
      : feed.cache(resource.prefix, resource.reader);
    resources.set(resourceId(strategy), resource);
  }
  return {
    options,
    clock,
    resources,
    feed,
    start: () => feed.start(),
    stop: async () => {
      stopping.abort();
      await feed.stopped();
    },
  };
}

/**
 * Roles and bindings are asked for at every request, services whenever one gets an address: they are in
 * memory, whatever else is.
 */
const alwaysCached = ({ hub: { kind } }: Strategy): boolean =>
  kind.group === "rbac.authorization" || (kind.group === "" && kind.kind === "Service");

/** `apps/deployments`, or `/pods` for the core group, in neutral group names. */
export const resourceId = (strategy: Strategy): string => `${strategy.hub.kind.group}/${strategy.resource}`;

export interface FrontOptions {
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
  readonly plugins: readonly AdmissionPlugin[];
  readonly specials: readonly VirtualGroup[];
  readonly paths: readonly PathHandler[];
  readonly health: HealthPaths;
  readonly healthObserver: HealthObserver;
  readonly steps: ServingSteps;
  readonly serves: Serves;
  /** Counts what watches deliver. */
  readonly watchEvents: NonNullable<EndpointContext["watchEvents"]>;
  readonly serverAddress: () => string;
  /** Aborted when watches must end. */
  readonly closing: AbortSignal;
}

export interface Front {
  readonly handle: (call: Call) => Promise<Reply>;
  readonly catalog: Catalog;
  readonly context: EndpointContext;
}

export function buildFront(core: Core, options: FrontOptions): Front {
  const { dialect, onError } = core.options;
  const context: EndpointContext = {
    admission: admissionChain(options.plugins),
    clock: core.clock,
    settings: core.options.settings,
    gates: { watchList: core.options.watchList },
    mayCreate: (call) => allowed(options.authorizer, { ...accessOf(call), verb: "create" }),
    minRequestTimeoutSeconds: core.options.minRequestTimeoutSeconds,
    deleteCollectionWorkers: core.options.deleteCollectionWorkers,
    closing: options.closing,
    watchEvents: options.watchEvents,
  };
  const served = catalog([...core.resources.values()], options.specials, dialect, options.serves);
  const found = discovery(served, dialect, options.serverAddress);
  const paths: PathHandler[] = [
    (call) => found.handle(call),
    (call) => healthReply(options.health, call, options.healthObserver),
    ...options.paths,
  ];
  const steps = {
    dialect,
    authenticator: options.authenticator,
    authorizer: options.authorizer,
    surprised: (error: unknown, call: ApiCall) => {
      const id = call.auditId || randomUUID();
      onError("a request failed unexpectedly", {
        id,
        method: call.method,
        path: call.target.path,
        error: (error as Error).stack ?? String(error),
      });
      return id;
    },
  };
  const { outer, early, late, inner } = options.steps;
  const known = [authenticate(steps), impersonate(steps)];
  const run = pipeline(
    [commonHeaders, ...outer, recover(steps), ...early, ...known, ...late, authorize(steps), ...inner],
    router(served, context, paths),
  );
  return { handle: (call) => run(new ApiCall(call, newAuditId(call))), catalog: served, context };
}

/** NamespaceLifecycle over the cached namespaces. */
export function lifecyclePlugin(core: Core): AdmissionPlugin {
  const namespaces = core.resources.get("/namespaces")!;
  const { data } = core.options.dialect;
  const states = new WeakMap<CachedObject, "active" | "terminating">();
  return namespaceLifecycle(
    async (name) => {
      const cached =
        namespaces.source.getCached(name) ?? (await namespaces.source.get(name, { at: "latest" }));
      if (!cached) return "absent";
      let state = states.get(cached);
      if (!state) {
        const { status } = namespaces.objectOf(cached) as ApiObject & { status?: { phase?: string } };
        states.set(cached, (state = status?.phase === "Terminating" ? "terminating" : "active"));
      }
      return state;
    },
    ["default", data.systemNamespace, data.publicNamespace],
  );
}
