// Verifies service account tokens. Signatures are checked once and cached; the existence of the account and
// the bound objects is checked on every request, so that a deleted account loses access immediately.

import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Clock } from "#base";
import type { Dialect } from "#dialect";
import { BadCredential } from "./authenticator.ts";
import type { TokenMethod } from "./bearer-token.ts";
import type { TokenKey } from "./service-account-keys.ts";
import type { ClusterClaim, TokenFeatures, TokenRef } from "./service-account-token.ts";
import {
  type Identity,
  type User,
  serviceAccountGroups,
  serviceAccountName,
  splitServiceAccountName,
} from "./user.ts";

/** The fields of a stored object that verification needs. */
export interface StoredObject {
  readonly metadata: {
    readonly uid?: string | undefined;
    readonly deletionTimestamp?: string | null | undefined;
    readonly labels?: Readonly<Record<string, string>> | undefined;
  };
  /** Of a secret; base64. */
  readonly data?: Readonly<Record<string, string>> | undefined;
  /** Of a service account. */
  readonly secrets?: readonly { readonly name?: string | undefined }[] | undefined;
  /** Of a pod. */
  readonly spec?:
    | { readonly serviceAccountName?: string | undefined; readonly nodeName?: string | undefined }
    | undefined;
}
type StoredNode = Pick<StoredObject, "metadata">;
type LookupResult<T = StoredObject> = T | undefined | Promise<T | undefined>;

/** Looks up the objects that tokens refer to. */
export interface TokenObjects {
  serviceAccount(namespace: string, name: string): LookupResult;
  pod(namespace: string, name: string): LookupResult;
  secret(namespace: string, name: string): LookupResult;
  node(name: string): LookupResult<StoredNode>;
}

export interface ServiceAccountTokenOptions {
  readonly keys: readonly TokenKey[];
  /** Audiences of this server, assumed for tokens without an audience. */
  readonly audiences: readonly string[];
  readonly objects: TokenObjects;
  readonly clock: Clock;
  readonly dialect: Dialect;
  /** Maximum number of cached verified tokens. */
  readonly cacheSize?: number;
  readonly observer?: TokenObserver | undefined;
  readonly features?: TokenFeatures;
}

/** Observes the verification of tokens. */
export interface TokenObserver {
  /** A service account token was accepted: from a secret, past its renewal time, or valid. */
  used(kind: "legacy" | "stale" | "valid"): void;
  /** A token was found in the cache. */
  cached(): void;
  /** Runs the verification of a token that is not cached. */
  verify<T>(run: () => Promise<T>): Promise<T>;
}

interface Claims {
  readonly [name: string]: unknown;
  readonly iss?: string;
  readonly sub?: string;
  readonly aud?: string | readonly string[];
  readonly exp?: number;
  readonly nbf?: number;
  readonly iat?: number;
  readonly jti?: unknown;
}
interface Verified {
  readonly claims: Claims;
  /** Identities by requested audiences, so that repeated requests yield the same object. */
  readonly identities: Map<string, Identity>;
}

/** Clock skew tolerance in seconds, which also delays the effect of deletions. */
const leeway = 60;
const maxAudienceSets = 32;

/** Tokens issued by this server or another trusted issuer through the TokenRequest API. */
export function serviceAccountTokens(
  options: ServiceAccountTokenOptions & { readonly issuers: readonly string[] },
): TokenMethod {
  const { objects, clock, dialect, features = {} } = options;
  return issuedBy(options.issuers, options, async (verified, audiences) => {
    const { claims } = verified;
    const seconds = clock.now() / 1000;
    checkTimes(claims, seconds);
    const claim = (claims[dialect.data.tokenClaim] ?? {}) as ClusterClaim;
    const { namespace = "", serviceaccount, pod, secret, node } = claim;
    const name = serviceaccount?.name ?? "";
    const account = await objects.serviceAccount(namespace, name);
    if (!account) throw new BadCredential(`service account ${namespace}/${name} not found`);
    if (isDeleted(account, seconds))
      throw new BadCredential(`service account ${namespace}/${name} has been deleted`);
    if (account.metadata.uid !== serviceaccount?.uid)
      throw new BadCredential(`service account ${namespace}/${name} is not the one the token was issued for`);
    if (secret) checkBound(await objects.secret(namespace, secret.name ?? ""), secret, seconds);
    if (pod) checkBound(await objects.pod(namespace, pod.name ?? ""), pod, seconds);
    if (node && !pod) {
      if (!features.nodeBindingValidation)
        throw new BadCredential(
          "tokens bound to nodes are not accepted (ServiceAccountTokenNodeBindingValidation)",
        );
      checkBound(await objects.node(node.name ?? ""), node, seconds);
    }
    const extra = extraOf(claims, claim, options);
    const stale = claim.warnafter && seconds > claim.warnafter ? Math.floor(seconds) - claim.warnafter : 0;
    options.observer?.used("valid");
    if (stale) {
      options.observer?.used("stale");
      const annotations = {
        [dialect.names.audit.staleToken]: `subject: ${claims.sub}, seconds after warning threshold: ${stale}`,
      };
      return {
        ...cachedIdentity(verified, audiences, () => userOf(namespace, name, account, extra)),
        annotations,
      };
    }
    return cachedIdentity(verified, audiences, () => userOf(namespace, name, account, extra));
  });
}

/** Returns the identifier of a credential by that of a token. */
export const credentialIdOf = (tokenId: string): string => `JTI=${tokenId}`;

function extraOf(
  { jti }: Claims,
  { pod, node }: ClusterClaim,
  { dialect, features = {} }: ServiceAccountTokenOptions,
): Record<string, string[]> | undefined {
  const names = dialect.names.userExtra;
  const extra: Record<string, string[]> = {};
  if (pod?.name && pod.uid) {
    extra[names.podName] = [pod.name];
    extra[names.podUid] = [pod.uid];
  }
  if (features.ids && typeof jti === "string" && jti) extra[names.credentialId] = [credentialIdOf(jti)];
  if (node?.name && (features.podNodes || !pod)) {
    extra[names.nodeName] = [node.name];
    if (node.uid) extra[names.nodeUid] = [node.uid];
  }
  return Object.keys(extra).length > 0 ? extra : undefined;
}

export interface LegacyTokenOptions extends ServiceAccountTokenOptions {
  /** Whether the secret and the account must still exist. */
  readonly lookup: boolean;
  /** Whether tokens that the cleaner has marked as invalid are refused. */
  readonly refusesMarked?: boolean;
  /**
   * Called when a secret-based token was used, at most once per day and secret. If absent, no warnings about
   * such tokens are returned either.
   */
  readonly onUse?: ((namespace: string, secret: string, day: string) => void) | undefined;
}

/** Tokens stored in secrets: they have no audience and never expire. */
export function legacyServiceAccountTokens(options: LegacyTokenOptions): TokenMethod {
  const names = options.dialect.names.legacyTokens;
  const { objects, clock, dialect } = options;
  return issuedBy([names.issuer], options, async (verified, audiences, token) => {
    const { claims } = verified;
    const text = (claim: string): string => {
      const value = claims[claim];
      if (typeof value !== "string" || value === "")
        throw new BadCredential(`the token lacks the claim ${claim}`);
      return value;
    };
    const [subject, namespace, secretName, name, uid] = [
      text("sub"),
      text(names.namespace),
      text(names.secret),
      text(names.account),
      text(names.accountUid),
    ];
    const parts = splitServiceAccountName(subject);
    if (parts?.namespace !== namespace || parts.name !== name)
      throw new BadCredential("the token's subject is not its service account");
    const account: StoredObject = { metadata: { uid } };
    const warnings: string[] = [];
    if (options.lookup) {
      const secret = await objects.secret(namespace, secretName);
      if (!secret || secret.metadata.deletionTimestamp)
        throw new BadCredential("the token has been invalidated");
      if (secret.data?.["token"] !== Buffer.from(token).toString("base64"))
        throw new BadCredential("the token does not match the server's copy");
      const live = await objects.serviceAccount(namespace, name);
      if (!live) throw new BadCredential(`service account ${namespace}/${name} not found`);
      if (live.metadata.deletionTimestamp)
        throw new BadCredential(`service account ${namespace}/${name} has been deleted`);
      if (live.metadata.uid !== uid)
        throw new BadCredential(
          `service account ${namespace}/${name} is not the one the token was issued for`,
        );
      const { legacyTokenInvalidSince, legacyTokenLastUsed } = dialect.names.labels;
      const isMarked = Boolean(options.refusesMarked && secret.metadata.labels?.[legacyTokenInvalidSince]);
      if (options.onUse) {
        if (live.secrets?.some((each) => each.name === secretName))
          warnings.push(
            "Use tokens from the TokenRequest API or manually created secret-based tokens instead of auto-generated secret-based tokens.",
          );
        const [today, tomorrow] = [0, 1].map((days) =>
          new Date(clock.now() + days * 86_400_000).toISOString().slice(0, 10),
        ) as [string, string];
        const lastUsed = secret.metadata.labels?.[legacyTokenLastUsed];
        if (lastUsed !== today && lastUsed !== tomorrow) options.onUse(namespace, secretName, today);
      }
      if (isMarked)
        throw new BadCredential(
          `the token in secret ${namespace}/${secretName} for service account ${namespace}/${name} has been marked invalid. Use tokens from the TokenRequest API or manually created secret-based tokens, or remove the '${legacyTokenInvalidSince}' label from the secret to temporarily allow use of this token`,
        );
    }
    options.observer?.used("legacy");
    const identity = cachedIdentity(verified, audiences, () => userOf(namespace, name, account), {
      annotations: { [dialect.names.audit.legacyToken]: subject },
    });
    return warnings.length ? { ...identity, warnings } : identity;
  });
}

/**
 * Returns undefined for tokens of other issuers. For its own, `identify` is called once signature and
 * audience are verified.
 */
function issuedBy(
  issuers: readonly string[],
  options: ServiceAccountTokenOptions,
  identify: (verified: Verified, audiences: readonly string[], token: string) => Promise<Identity>,
): TokenMethod {
  const verify = signatures(new Set(issuers), options);
  return {
    identify: async (token, requested) => {
      const verified = await verify(token);
      return (
        verified &&
        (await identify(verified, sharedAudiences(verified.claims, requested, options.audiences), token))
      );
    },
  };
}

/**
 * Returns a function that verifies and caches signatures; it returns undefined for a token of another issuer.
 */
function signatures(
  issuers: ReadonlySet<string>,
  { keys, observer, cacheSize = 4096 }: ServiceAccountTokenOptions,
): (token: string) => Promise<Verified | undefined> {
  // The cache allocates its memory when created, which a server without such tokens does not need.
  let cached: LRUCache<string, Verified> | undefined;
  return async (token) => {
    const key = hash("sha256", token, "base64");
    const before = cached?.get(key);
    if (before) {
      observer?.cached();
      return before;
    }
    const [, payload = "", ...rest] = token.split(".");
    const unverified = rest.length === 1 ? parseJson(payload) : undefined;
    if (typeof unverified?.iss !== "string" || !issuers.has(unverified.iss)) return undefined;
    const check = (): Promise<Claims> => verifiedClaims(token, keys);
    const claims = await (observer ? observer.verify(check) : check());
    const verified: Verified = { claims, identities: new Map() };
    cached ??= new LRUCache({ max: cacheSize });
    cached.set(key, verified);
    return verified;
  };
}

async function verifiedClaims(token: string, keys: readonly TokenKey[]): Promise<Claims> {
  const { compactVerify } = await import("jose/jws/compact/verify");
  const id = parseJson(token.split(".", 1)[0]!)?.["kid"];
  // Try the key named by the token first, then the others: a token may be older than key ids.
  const ordered = [...keys.filter((key) => key.id === id), ...keys.filter((key) => key.id !== id)];
  for (const { key, algorithm } of ordered) {
    try {
      const algorithms = algorithm === "RS256" ? ["RS256", "RS384", "RS512"] : [algorithm];
      const { payload } = await compactVerify(token, key, { algorithms });
      return JSON.parse(Buffer.from(payload).toString()) as Claims;
    } catch {
      // Try the next key.
    }
  }
  // The reference's message, which users search for.
  throw new BadCredential("square/go-jose: error in cryptographic primitive");
}

function parseJson(encoded: string): Claims | undefined {
  if (!/^[\w-]+$/.test(encoded)) return undefined;
  try {
    const value: unknown = JSON.parse(Buffer.from(encoded, "base64url").toString());
    return typeof value === "object" && value !== null ? (value as Claims) : undefined;
  } catch {
    return undefined;
  }
}

function sharedAudiences(claims: Claims, requested: readonly string[], own: readonly string[]): string[] {
  const named = claims.aud === undefined ? [] : [claims.aud].flat();
  const ofToken = named.length ? named : own;
  const target = requested.length ? requested : own;
  const cached = new Set(ofToken);
  const shared = target.filter((audience) => cached.has(audience));
  if (!shared.length && own.length)
    throw new BadCredential(
      `token audiences ${quoted(ofToken)} is invalid for the target audiences ${quoted(target)}`,
    );
  return shared;
}

function checkTimes({ exp, nbf, iat }: Claims, seconds: number): void {
  if (nbf !== undefined && seconds + leeway < nbf)
    throw new BadCredential("service account token is not valid yet");
  if (exp !== undefined && seconds - leeway > exp)
    throw new BadCredential("service account token has expired");
  if (iat !== undefined && seconds + leeway < iat)
    throw new BadCredential("service account token is issued in the future");
}

function checkBound(object: StoredNode | undefined, ref: Partial<TokenRef>, seconds: number): void {
  if (!object || isDeleted(object, seconds) || object.metadata.uid !== ref.uid)
    throw new BadCredential("service account token has been invalidated");
}

const isDeleted = ({ metadata: { deletionTimestamp } }: StoredNode, seconds: number): boolean =>
  Boolean(deletionTimestamp) && Date.parse(deletionTimestamp!) / 1000 < seconds - leeway;

const userOf = (
  namespace: string,
  name: string,
  account: StoredObject,
  extra?: Record<string, string[]>,
): User => ({
  name: serviceAccountName(namespace, name),
  ...(account.metadata.uid && { uid: account.metadata.uid }),
  groups: serviceAccountGroups(namespace),
  ...(extra && { extra }),
});

function cachedIdentity(
  { identities }: Verified,
  audiences: readonly string[],
  user: () => User,
  more: Partial<Identity> = {},
): Identity {
  const key = audiences.join("\n");
  let identity = identities.get(key);
  if (!identity) {
    if (identities.size >= maxAudienceSets) identities.clear();
    identities.set(key, (identity = { user: user(), ...(audiences.length && { audiences }), ...more }));
  }
  return identity;
}

const quoted = (words: readonly string[]): string =>
  `[${words.map((word) => JSON.stringify(word)).join(" ")}]`;
