// Authentication: every method that the settings turn on, in the order in which they are tried.
import { readFileSync } from "node:fs";
import type { Secret } from "#api";
import {
  type Authenticator,
  type CertificateVerifier,
  type TokenFeatures,
  type TokenKey,
  type TokenMethod,
  type TokenObjects,
  type TokenObserver,
  audienceAgnostic,
  authenticatorOf,
  bootstrapTokens,
  cachedTokens,
  bearerTokens,
  certificateExpirationMetric,
  clientCertificateVerifier,
  clientCertificates,
  legacyServiceAccountTokens,
  publicKeyOf,
  requestHeaders,
  serviceAccountTokens,
  signingKey,
  signingKeyOf,
  documentFetcher,
  oidcTokens,
  parseTokenFile,
  plainMapping,
  trustBundle,
  trustBundleFile,
  verificationKeys,
  webSocketTokens,
  webhookTokens,
} from "#authn";
import { webhook, webhookConnection } from "#client";
import { type Metrics, minorOf } from "#base";
import { type Dialect, componentName, streamProtocols } from "#dialect";
import { update, type ServerObjects } from "#registry";
import type { Dial } from "#http";
import type { OutboundOptions } from "../authorization/authorizers.ts";
import { measuredAuthenticator, tokenMetrics } from "../metrics/authentication-metrics.ts";
import type { OwnCredentials } from "../library/credentials.ts";
import type { Reloads } from "../serving/reloads.ts";
import { modesOf } from "../authorization/modes.ts";
import { anonymousBy } from "./anonymous.ts";
import { configuredAuthentication } from "./configured.ts";
import type { ApiserverSettings } from "../options/settings.ts";
import { type OneTimeLogin, oneTimeLogin } from "../ui/one-time-login.ts";

export interface Authentication {
  readonly authenticator: Authenticator;
  /** The methods that authenticate bearer tokens, for token reviews. */
  readonly tokens: readonly TokenMethod[];
  /** Audience identifiers of this API; tokens must be issued for one of them. */
  readonly audiences: readonly string[];
  readonly objects: TokenObjects;
  /** Issuer of service account tokens. Without a signing key no tokens are issued. */
  readonly issuer: string;
  readonly signing: TokenKey | undefined;
  readonly verifying: readonly TokenKey[];
  /** Absent if one-time login links for the web page are disabled. */
  readonly login: OneTimeLogin | undefined;
}

export interface AuthenticationObservers {
  readonly metrics: Metrics;
  readonly reloads: Reloads;
  /** Whether the last use of tokens stored in secrets is recorded. */
  readonly tracksTokens: boolean;
  readonly tokenFeatures: TokenFeatures;
  /** Whether tokens in secrets that are marked as invalid are refused. */
  readonly refusesMarked: boolean;
}

/**
 * Builds the authenticators. Certificate authorities and tokens are reloaded when their files change, until
 * the signal is aborted.
 */
export function authenticationFor(
  server: ServerObjects,
  settings: ApiserverSettings,
  own: OwnCredentials | undefined,
  { metrics, reloads, tracksTokens, tokenFeatures: features, refusesMarked }: AuthenticationObservers,
  outbound: OutboundOptions,
): Authentication {
  const { dialect, clock } = server;
  const { signal } = outbound;
  const ownKey =
    own && !settings.serviceAccountSigningKeyFile && settings.serviceAccountKeyFile.length === 0
      ? signingKeyOf(own.serviceAccountKey, "the server's own key")
      : undefined;
  const issuers = settings.serviceAccountIssuer.length
    ? settings.serviceAccountIssuer
    : ownKey
      ? [dialect.names.defaultTokenIssuer]
      : [];
  const audiences = settings.apiAudiences.length ? settings.apiAudiences : issuers.slice(0, 1);
  const signing = settings.serviceAccountSigningKeyFile
    ? signingKey(settings.serviceAccountSigningKeyFile)
    : ownKey;
  const verifying = settings.serviceAccountKeyFile.length
    ? verificationKeys(settings.serviceAccountKeyFile)
    : ownKey
      ? [publicKeyOf(ownKey)]
      : [];
  const objects = tokenObjects(server);
  const observer = tokenMetrics(metrics);
  const tokens: TokenMethod[] = (own?.tokens ?? []).map((method) => audienceAgnostic(method, audiences));
  const login = settings.ui && settings.uiLoginFile ? oneTimeLogin(settings.uiLoginFile, clock) : undefined;
  if (login) tokens.push(audienceAgnostic(login.tokens, audiences));
  if (settings.tokenAuthFile)
    tokens.push(audienceAgnostic(reloadedTokens(settings.tokenAuthFile, reloads), audiences));
  if (verifying.length) {
    const common = { keys: verifying, audiences, objects, clock, dialect, observer };
    tokens.push(
      legacyServiceAccountTokens({
        ...common,
        lookup: settings.serviceAccountLookup,
        refusesMarked,
        ...(tracksTokens && { onUse: (...use) => void recordTokenUse(server, ...use) }),
      }),
    );
    if (issuers.length) tokens.push(serviceAccountTokens({ ...common, issuers, features }));
  }
  const configured = settings.authenticationConfig
    ? configuredAuthentication(settings.authenticationConfig, {
        dialect,
        clock,
        idKey: idKeyOf(settings, dialect),
        reserved: issuers,
        networks: { controlplane: outbound.dial, cluster: outbound.cluster },
        cacheMilliseconds,
        observer,
        reloads,
      })
    : undefined;
  tokens.push(...remoteTokens(server, settings, audiences, { ...outbound, observer, configured }));
  const authenticator = authenticatorOf(
    [
      ...certificateMethods(server, settings, { metrics, reloads }, signal),
      bearerTokens(tokens, audiences),
      webSocketTokens(tokens, audiences, streamProtocols.bearerTokenPrefix),
    ],
    {
      anonymous: anonymousBy(
        () => configured?.anonymous(),
        settings.anonymousAuth,
        modesOf(settings, dialect),
      ),
    },
  );
  return {
    authenticator: measuredAuthenticator(authenticator, metrics),
    tokens,
    audiences,
    objects,
    issuer: issuers[0] ?? "",
    signing,
    verifying,
    login,
  };
}

function reloadedTokens(file: string, reloads: Reloads): TokenMethod {
  const current = reloads.watchFile(
    "--token-auth-file",
    file,
    (text) => parseTokenFile(text, file),
    readFileSync(file, "utf8"),
  );
  return { identify: (token, audiences) => current().identify(token, audiences) };
}

const trustCheckMilliseconds = 5_000;

function certificateMethods(
  { clock, dialect }: ServerObjects,
  settings: ApiserverSettings,
  { metrics, reloads }: Pick<AuthenticationObservers, "metrics" | "reloads">,
  signal: AbortSignal,
): Authenticator[] {
  const verifier = (file: string, setting: string): CertificateVerifier => {
    const trust = trustBundleFile(file);
    const report = reloads.of(setting);
    const stop = trust.follow(clock, trustCheckMilliseconds, (change) => {
      if ("error" in change) report.refused(change.error as Error);
      else report.changed();
    });
    signal.addEventListener("abort", stop, { once: true });
    return clientCertificateVerifier({ trust, clock });
  };
  const methods: Authenticator[] = [];
  if (settings.requestheaderClientCaFile)
    methods.push(
      requestHeaders({
        verifier: verifier(settings.requestheaderClientCaFile, "--requestheader-client-ca-file"),
        allowedNames: settings.requestheaderAllowedNames,
        usernameHeaders: settings.requestheaderUsernameHeaders,
        groupHeaders: settings.requestheaderGroupHeaders,
        extraHeaderPrefixes: settings.requestheaderExtraHeadersPrefix,
      }),
    );
  if (settings.clientCaFile)
    methods.push(
      clientCertificates(
        verifier(settings.clientCaFile, "--client-ca-file"),
        certificateExpirationMetric(metrics, clock),
        idKeyOf(settings, dialect),
      ),
    );
  return methods;
}

/** The extra attribute of users that identifies their certificate or token; later releases have it. */
const idKeyOf = ({ release }: ApiserverSettings, { names }: Dialect): string | undefined =>
  minorOf(release) < 32 ? undefined : names.userExtra.credentialId;

const tokenObjects = ({ resources }: ServerObjects): TokenObjects => ({
  serviceAccount: (namespace, name) => resources.serviceAccounts.get(`${namespace}/${name}`),
  pod: (namespace, name) => resources.pods.get(`${namespace}/${name}`),
  secret: (namespace, name) => resources.secrets.get(`${namespace}/${name}`),
  node: (name) => resources.nodes.get(name),
});

/** Records on the secret the day a token was last used, so that unused legacy tokens can be cleaned up. */
async function recordTokenUse(
  server: ServerObjects,
  namespace: string,
  secret: string,
  day: string,
): Promise<void> {
  const label = server.dialect.names.labels.legacyTokenLastUsed;
  try {
    await update(server.writer.request(server.resources.secrets.endpoint, namespace), secret, {
      transform: (old) => ({
        ...old!,
        metadata: { ...old!.metadata, labels: { ...old!.metadata.labels, [label]: day } },
      }),
    });
  } catch (error) {
    server.onError("the last use of a service account token could not be recorded", {
      namespace,
      secret,
      error: (error as Error).message,
    });
  }
}

/** Lifetime of identities from remote methods in the shared cache, regardless of the methods' own caches. */
const cacheMilliseconds = 10_000;
/**
 * Deadline of a webhook lookup. Requests with the same token share one lookup, whichever of them started it.
 */
const sharedLookupMilliseconds = 30_000;

/**
 * Returns bootstrap tokens, the identity provider and the token webhook, in the order in which they are
 * tried.
 */
function remoteTokens(
  server: ServerObjects,
  settings: ApiserverSettings,
  audiences: readonly string[],
  {
    dial,
    signal,
    observer,
    configured,
  }: OutboundOptions & { readonly observer: TokenObserver; readonly configured: TokenMethod | undefined },
): TokenMethod[] {
  const { dialect, clock, onError } = server;
  const methods: TokenMethod[] = [];
  const cacheOptions = { clock, successMilliseconds: cacheMilliseconds, failureMilliseconds: 0, observer };
  if (settings.enableBootstrapTokenAuth) {
    const secret = async (name: string): Promise<Secret | undefined> =>
      await server.resources.secrets.get(`${dialect.data.systemNamespace}/${name}`);
    methods.push(audienceAgnostic(bootstrapTokens({ dialect, clock, secret }), audiences));
  }
  if (settings.oidcIssuerUrl)
    methods.push(audienceAgnostic(cachedTokens(oidcMethod(settings, server, dial), cacheOptions), audiences));
  if (configured) methods.push(audienceAgnostic(configured, audiences));
  if (settings.authenticationTokenWebhookConfigFile) {
    const hook = webhook({
      needsBody: true,
      connection: webhookConnection(settings.authenticationTokenWebhookConfigFile),
      clock,
      userAgent: componentName(dialect, "apiserver"),
      deadlineMilliseconds: sharedLookupMilliseconds,
      dial,
    });
    signal.addEventListener("abort", () => hook.close(), { once: true });
    const ttl = settings.authenticationTokenWebhookCacheTtl;
    const webhookMethod = webhookTokens({
      webhook: hook,
      version: settings.authenticationTokenWebhookVersion,
      dialect,
      audiences,
      onError: (error) => onError("the token webhook could not be called", { error: error.message }),
    });
    const cached = cachedTokens(webhookMethod, { clock, successMilliseconds: ttl, failureMilliseconds: ttl });
    methods.push(cachedTokens(cached, cacheOptions));
  }
  return methods;
}

function oidcMethod(
  settings: ApiserverSettings,
  { clock, dialect }: ServerObjects,
  dial: Dial | undefined,
): TokenMethod {
  const { oidcCaFile } = settings;
  const ca = oidcCaFile ? readFileSync(oidcCaFile, "utf8") : undefined;
  if (ca !== undefined) trustBundle(ca, oidcCaFile);
  return oidcTokens([
    {
      issuer: settings.oidcIssuerUrl,
      audiences: [settings.oidcClientId],
      algorithms: settings.oidcSigningAlgs,
      mapping: plainMapping({
        issuer: settings.oidcIssuerUrl,
        usernameClaim: settings.oidcUsernameClaim,
        usernamePrefix: settings.oidcUsernamePrefix,
        groupsClaim: settings.oidcGroupsClaim,
        groupsPrefix: settings.oidcGroupsPrefix,
        requiredClaims: settings.oidcRequiredClaim,
      }),
      idKey: idKeyOf(settings, dialect),
      clock,
      fetch: documentFetcher(ca, dial),
    },
  ]);
}
