// Who is asking: every method of authentication that the settings turn on, in the order in which they are
// asked.
import type { Pod, Secret, ServiceAccount } from "#api";
import {
  type Authenticator,
  type CertificateVerifier,
  type TokenKey,
  type TokenMethod,
  type TokenObjects,
  audienceAgnostic,
  authenticatorOf,
  bearerTokens,
  certificateLives,
  clientCertificateVerifier,
  clientCertificates,
  legacyServiceAccountTokens,
  publicKeyOf,
  requestHeaders,
  serviceAccountTokens,
  signingKey,
  signingKeyOf,
  tokenFile,
  trustBundleFile,
  verificationKeys,
  webSocketTokens,
} from "#authn";
import type { Metrics } from "#base";
import { streamProtocols } from "#dialect";
import { update } from "#registry";
import { ownRequest } from "./bootstrap.ts";
import type { OwnCredentials } from "./library/credentials.ts";
import { objectsOf } from "./objects.ts";
import type { Core } from "./server.ts";
import type { ApiserverSettings } from "./settings-of.ts";

export interface Identities {
  readonly authenticator: Authenticator;
  /** The methods that know bearer tokens, for reviews of tokens. */
  readonly tokens: readonly TokenMethod[];
  /** Names of this API: tokens must be meant for one of them. */
  readonly audiences: readonly string[];
  readonly objects: TokenObjects;
  /** What signs tokens, and what verifies them; no key, no tokens. */
  readonly issuer: string;
  readonly signing: TokenKey | undefined;
  readonly verifying: readonly TokenKey[];
}

/** Authorities are read again when their files change, until the signal. */
export function identitiesFor(
  core: Core,
  settings: ApiserverSettings,
  own: OwnCredentials | undefined,
  metrics: Metrics,
  signal: AbortSignal,
): Identities {
  const { dialect } = core.options;
  const { clock } = core;
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
  const objects = tokenObjects(core);
  const tokens: TokenMethod[] = (own?.tokens ?? []).map((method) => audienceAgnostic(method, audiences));
  if (settings.tokenAuthFile) tokens.push(audienceAgnostic(tokenFile(settings.tokenAuthFile), audiences));
  if (verifying.length) {
    const common = { keys: verifying, audiences, objects, clock, dialect };
    tokens.push(
      legacyServiceAccountTokens({
        ...common,
        lookup: settings.serviceAccountLookup,
        onUse: (...use) => void noteUse(core, ...use),
      }),
    );
    if (issuers.length) tokens.push(serviceAccountTokens({ ...common, issuers }));
  }
  const authenticator = authenticatorOf(
    [
      ...certificateMethods(core, settings, metrics, signal),
      bearerTokens(tokens, audiences),
      webSocketTokens(tokens, audiences, streamProtocols.bearerTokenPrefix),
    ],
    { anonymous: settings.anonymousAuth },
  );
  return { authenticator, tokens, audiences, objects, issuer: issuers[0] ?? "", signing, verifying };
}

const trustCheckMilliseconds = 5_000;

function certificateMethods(
  { clock, options }: Core,
  settings: ApiserverSettings,
  metrics: Metrics,
  signal: AbortSignal,
): Authenticator[] {
  const verifier = (file: string): CertificateVerifier => {
    const trust = trustBundleFile(file);
    const stop = trust.follow(clock, trustCheckMilliseconds, (change) => {
      if ("error" in change)
        options.onError("the client authorities cannot be read again; the old ones stay", {
          file,
          error: (change.error as Error).message,
        });
    });
    signal.addEventListener("abort", stop, { once: true });
    return clientCertificateVerifier({ trust, clock });
  };
  const methods: Authenticator[] = [];
  if (settings.requestheaderClientCaFile)
    methods.push(
      requestHeaders({
        verifier: verifier(settings.requestheaderClientCaFile),
        allowedNames: settings.requestheaderAllowedNames,
        usernameHeaders: settings.requestheaderUsernameHeaders,
        groupHeaders: settings.requestheaderGroupHeaders,
        extraHeaderPrefixes: settings.requestheaderExtraHeadersPrefix,
      }),
    );
  if (settings.clientCaFile)
    methods.push(clientCertificates(verifier(settings.clientCaFile), certificateLives(metrics, clock)));
  return methods;
}

function tokenObjects(core: Core): TokenObjects {
  const { find } = objectsOf(core);
  return {
    serviceAccount: (namespace, name) => find<ServiceAccount>("/serviceaccounts", `${namespace}/${name}`),
    pod: (namespace, name) => find<Pod>("/pods", `${namespace}/${name}`),
    secret: (namespace, name) => find<Secret>("/secrets", `${namespace}/${name}`),
  };
}

/** Old tokens that are never used can be cleaned up; so their use is noted on the secret, by day. */
async function noteUse(core: Core, namespace: string, secret: string, day: string): Promise<void> {
  const label = core.options.dialect.names.labels.legacyTokenLastUsed;
  try {
    await update(ownRequest(core, core.resources.get("/secrets")!.endpoints[0]!, namespace), secret, {
      transform: (old) => ({
        ...old!,
        metadata: { ...old!.metadata, labels: { ...old!.metadata.labels, [label]: day } },
      }),
    });
  } catch (error) {
    core.options.onError("the use of a service account token could not be noted", {
      namespace,
      secret,
      error: (error as Error).message,
    });
  }
}
