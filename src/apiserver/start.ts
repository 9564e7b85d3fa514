// Starts a whole server from settled flags: store, caches, credentials, pipeline, listener; and stops it again.
import { mkdirSync, readFileSync } from "node:fs";
import { hostname, networkInterfaces } from "node:os";
import { join } from "node:path";
import { type Authenticator, authenticatorOf, bearerTokens, clientCertificateVerifier, clientCertificates, selfSigned, stillGood, tokenFile, trustBundleFile, writePair } from "#authn";
import { type Clock, type Log, createLog, systemClock } from "#base";
import { type Dialect, type DialectName, dialectNamed } from "#dialect";
import { type Call, type Listener, type Reply, inject, listen } from "#http";
import { builtInStrategies } from "#registry";
import { type Store, openStore } from "#store";
import { accessFor } from "./access.ts";
import { bootstrapNamespaces, claimDialect } from "./bootstrap.ts";
import { bootstrapPriorities } from "./bootstrap-priorities.ts";
import type { OwnCredentials } from "./library/credentials.ts";
import { openApi } from "./openapi/handler.ts";
import { rootPaths } from "./paths.ts";
import { admissionPlugins } from "./plugins.ts";
import { type Core, buildCore, buildFront } from "./server.ts";
import { type ApiserverSettings, settleFlags } from "./settings-of.ts";
import { specialGroups } from "./specials.ts";

export interface StartOptions {
  readonly dialect: Dialect;
  readonly settings: ApiserverSettings;
  /** Opened by the caller; otherwise made from the settings. */
  readonly store?: Store;
  readonly clock?: Clock;
  readonly log?: Log;
  /** False serves in process only. */
  readonly listen?: boolean;
  /** Credentials kept in memory, used where the settings name no files. */
  readonly own?: OwnCredentials;
  /** Progress for an operator who waits. */
  readonly onPhase?: (phase: string) => void;
}

export interface StartedServer {
  readonly url: string;
  readonly handle: (call: Call) => Promise<Reply>;
  readonly inject: (request: Parameters<typeof inject>[1]) => ReturnType<typeof inject>;
  readonly core: Core;
  readonly certificate: string | undefined;
  /** Graceful: readiness fails at once, the delay passes, requests drain, watches end. */
  stop(): Promise<void>;
}

export async function start(options: StartOptions): Promise<StartedServer> {
  const { dialect, settings } = options;
  const clock = options.clock ?? systemClock;
  const log = options.log ?? createLog();
  const stopping = new AbortController();
  const closing = new AbortController();
  options.onPhase?.("opening the store");
  const store = options.store ?? (await openStoreFor(settings, clock));
  const storePrefix = settings.storePrefix.replace(/\/$/, "");
  await claimDialect(store, storePrefix, dialect);
  const core = buildCore({
    dialect,
    store,
    storePrefix,
    storageMedia: settings.storageMediaType === dialect.wire.protobufMediaType ? "protobuf" : "json",
    strategies: builtInStrategies,
    settings: { allowPrivileged: settings.allowPrivileged, eventTtlSeconds: settings.eventTtl / 1000 },
    clock,
    uncached: settings.watchCache ? new Set(settings.watchCacheSizes.filter(({ size }) => size === 0).map(({ resource }) => resource)) : "all",
    minRequestTimeoutSeconds: settings.minRequestTimeout,
    requestTimeoutMilliseconds: settings.requestTimeout,
    deleteCollectionWorkers: settings.deleteCollectionWorkers,
    watchList: false,
    onError: (message, fields) => log.error(message, fields),
  });
  options.onPhase?.("loading objects");
  await core.start();
  await bootstrapNamespaces(core);
  await bootstrapPriorities(core);
  const access = await accessFor(core, settings);
  const plugins = admissionPlugins(core, settings);
  const front = buildFront(core, {
    authenticator: authenticatorFrom(settings, clock, options.own),
    authorizer: access.authorizer,
    plugins,
    specials: [...access.specials, ...specialGroups(core, { plugins })],
    paths: [rootPaths(dialect, () => front.catalog), openApi(() => front.catalog, dialect)],
    health: {
      live: [
        { name: "ping", check: () => undefined },
        { name: "log", check: () => log.flush() },
        { name: dialect.wire.storeHealthCheck, check: async () => void (await store.progress()) },
        { name: "poststarthook/rbac/bootstrap-roles", check: () => access.bootstrapped() },
      ],
      ready: [
        { name: "informer-sync", check: () => failUnless(core.feed.ready(), "caches are not filled yet") },
        { name: "shutdown", check: () => failUnless(!stopping.signal.aborted, "the server is shutting down") },
      ],
    },
    serverAddress: () => `${advertised(settings)}:${settings.securePort}`,
    closing: closing.signal,
  });
  let listener: Listener | undefined;
  let certificate: string | undefined;
  if (options.listen !== false) {
    options.onPhase?.("opening the secure port");
    const pair = options.own && !settings.tlsCertFile ? options.own.servingPair(clock.now()) : servingPair(settings, clock);
    certificate = pair.cert;
    listener = await listen({
      host: settings.bindAddress || "0.0.0.0",
      port: settings.securePort,
      tls: { ...pair, requestCert: true, rejectUnauthorized: false },
      handle: front.handle,
      now: () => clock.now(),
      maxStreamsPerConnection: settings.http2MaxStreamsPerConnection,
      reusePort: settings.permitPortSharing,
    });
  }
  const host = listener ? (listener.address.address === "0.0.0.0" || listener.address.address === "::" ? "127.0.0.1" : listener.address.address) : "";
  return {
    url: listener ? `https://${host.includes(":") ? `[${host}]` : host}:${listener.address.port}` : "",
    handle: front.handle,
    inject: (request) => inject(front.handle, { trusted: { name: "system:admin", groups: ["system:masters"] }, ...request }),
    core,
    certificate,
    stop: async () => {
      stopping.abort();
      if (settings.shutdownDelayDuration > 0) await clock.sleep(settings.shutdownDelayDuration);
      listener?.drain();
      closing.abort();
      await listener?.close();
      await core.stop();
      if (!options.store) await store.close();
    },
  };
}

function failUnless(holds: boolean, message: string): void {
  if (!holds) throw new Error(message);
}

async function openStoreFor(settings: ApiserverSettings, clock: Clock): Promise<Store> {
  const servers = settings.storeServers;
  if (servers.length === 0) {
    mkdirSync(settings.dataDir, { recursive: true, mode: 0o700 });
    return await openStore({ dir: join(settings.dataDir, "store") });
  }
  if (servers[0] === "memory://") return await openStore({ memory: true, clock });
  return await openStore({
    etcd: { endpoints: servers, tls: { ca: settings.storeCafile, cert: settings.storeCertfile, key: settings.storeKeyfile }, leaseReuseSeconds: settings.leaseReuseDurationSeconds },
  });
}

function authenticatorFrom(settings: ApiserverSettings, clock: Clock, own: OwnCredentials | undefined): Authenticator {
  const methods: Authenticator[] = [];
  if (settings.clientCaFile) methods.push(clientCertificates(clientCertificateVerifier({ trust: trustBundleFile(settings.clientCaFile), clock })));
  const tokens = [...(own?.tokens ?? [])];
  if (settings.tokenAuthFile) tokens.push(tokenFile(settings.tokenAuthFile));
  methods.push(bearerTokens(tokens, settings.apiAudiences));
  return authenticatorOf(methods, { anonymous: settings.anonymousAuth });
}

function servingPair(settings: ApiserverSettings, clock: Clock): { cert: string; key: string } {
  if (settings.tlsCertFile) return { cert: readFileSync(settings.tlsCertFile, "utf8"), key: readFileSync(settings.tlsPrivateKeyFile, "utf8") };
  const names = [advertised(settings), hostname(), "localhost", "127.0.0.1"];
  const [cert, key] = [join(settings.certDir, "apiserver.crt"), join(settings.certDir, "apiserver.key")];
  try {
    const found = { certificate: readFileSync(cert, "utf8"), key: readFileSync(key, "utf8") };
    if (stillGood(found, names, clock.now(), 24 * 3600 * 1000)) return { cert: found.certificate, key: found.key };
  } catch {
    // None yet.
  }
  const made = selfSigned({ commonName: `${names[0]}@${Math.trunc(clock.now() / 1000)}` }, names, { now: clock.now(), days: 365 });
  writePair(made, cert, key);
  return { cert: made.certificate, key: made.key };
}

function advertised(settings: ApiserverSettings): string {
  if (settings.advertiseAddress) return settings.advertiseAddress;
  if (settings.bindAddress && settings.bindAddress !== "0.0.0.0" && settings.bindAddress !== "::") return settings.bindAddress;
  const found = Object.values(networkInterfaces())
    .flat()
    .find((item) => item && !item.internal && item.family === "IPv4");
  return found?.address ?? "127.0.0.1";
}

export { dialectNamed, settleFlags };
export type { DialectName };
