// Issues service account tokens, and serves the two OpenID documents needed to verify them.

import type { Dialect } from "#dialect";
import { type TokenKey, publicKeyOf } from "./service-account-keys.ts";
import { serviceAccountName } from "./user.ts";

/** The name and uid of an object at the time the token was issued. */
export interface TokenRef {
  readonly name: string;
  readonly uid: string;
}

/** The private claim with the namespace and the objects the token is bound to. */
export interface ClusterClaim {
  readonly namespace?: string;
  readonly serviceaccount?: Partial<TokenRef>;
  readonly node?: Partial<TokenRef>;
  readonly pod?: Partial<TokenRef>;
  readonly secret?: Partial<TokenRef>;
  readonly warnafter?: number;
}

/** Features of tokens that later releases have. */
export interface TokenFeatures {
  /** Tokens have an identifier. */
  readonly ids?: boolean;
  /** Tokens bound to a pod name its node. */
  readonly podNodes?: boolean;
  /** Tokens can be bound to a node. */
  readonly nodeBinding?: boolean;
  /** Tokens bound to a node are accepted. */
  readonly nodeBindingValidation?: boolean;
}

export interface TokenIssuer {
  readonly issuer: string;
  readonly key: TokenKey;
  readonly dialect: Dialect;
}

export interface TokenContents {
  readonly namespace: string;
  readonly account: TokenRef;
  readonly audiences: readonly string[];
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly seconds: number;
  /** The object the token is bound to. */
  readonly pod?: TokenRef | undefined;
  readonly secret?: TokenRef | undefined;
  /** The node that the token is bound to, or that of the pod: then without UID if it does not exist. */
  readonly node?: Partial<TokenRef> | undefined;
  /** Identifier of the token. */
  readonly id?: string | undefined;
  /** After this many seconds the token is still accepted, but its use is recorded. */
  readonly warnAfterSeconds?: number | undefined;
}

export async function issueServiceAccountToken(
  { issuer, key, dialect }: TokenIssuer,
  contents: TokenContents,
): Promise<string> {
  const { SignJWT } = await import("jose/jwt/sign");
  const { namespace, account, pod, secret, node, id, warnAfterSeconds } = contents;
  const issued = Math.floor(contents.now / 1000);
  const claim: ClusterClaim = {
    namespace,
    ...(node && { node }),
    ...(pod
      ? { pod: { name: pod.name, uid: pod.uid } }
      : secret && { secret: { name: secret.name, uid: secret.uid } }),
    serviceaccount: { name: account.name, uid: account.uid },
    ...(warnAfterSeconds && { warnafter: issued + warnAfterSeconds }),
  };
  const claims = {
    aud: [...contents.audiences],
    exp: issued + contents.seconds,
    iat: issued,
    iss: issuer,
    ...(id !== undefined && { jti: id }),
    [dialect.data.tokenClaim]: claim,
    nbf: issued,
    sub: serviceAccountName(namespace, account.name),
  };
  return new SignJWT(claims).setProtectedHeader({ alg: key.algorithm, kid: key.id }).sign(key.key);
}

/** Issues a token without expiry, which is stored in a secret and valid as long as the secret exists. */
export async function issueLegacyToken(
  { key, dialect }: Pick<TokenIssuer, "key" | "dialect">,
  { namespace, account, secret }: { namespace: string; account: TokenRef; secret: string },
): Promise<string> {
  const { SignJWT } = await import("jose/jwt/sign");
  const names = dialect.names.legacyTokens;
  const claims = {
    iss: names.issuer,
    [names.namespace]: namespace,
    [names.secret]: secret,
    [names.account]: account.name,
    [names.accountUid]: account.uid,
    sub: serviceAccountName(namespace, account.name),
  };
  return await new SignJWT(claims)
    .setProtectedHeader({ alg: key.algorithm, ...(key.id && { kid: key.id }) })
    .sign(key.key);
}

export interface OpenIdOptions {
  readonly issuer: string;
  /** The URL of the published keys; derived from the external address if absent. */
  readonly jwksUri?: string | undefined;
  readonly externalAddress: string;
  readonly keys: readonly TokenKey[];
}

export interface OpenIdDocuments {
  /** For `/.well-known/openid-configuration`, as application/json. */
  readonly configuration: string;
  /** For `/openid/v1/jwks`, as application/jwk-set+json. */
  readonly keys: string;
}

export const openIdPaths = {
  configuration: "/.well-known/openid-configuration",
  keys: "/openid/v1/jwks",
} as const;
export const openIdMediaTypes = {
  configuration: "application/json",
  keys: "application/jwk-set+json",
} as const;

/**
 * Returns the discovery documents. Throws if the issuer cannot have any, in which case it can still issue
 * tokens.
 */
export function openIdDocuments({ issuer, jwksUri, externalAddress, keys }: OpenIdOptions): OpenIdDocuments {
  const url = URL.canParse(issuer) ? new URL(issuer) : undefined;
  if (url?.protocol !== "https:") throw new Error(`issuer URL must use https scheme, got: ${issuer}`);
  if (url.search) throw new Error(`issuer URL may not include a query, got: ${issuer}`);
  if (url.hash) throw new Error(`issuer URL may not include a fragment, got: ${issuer}`);
  if (jwksUri && !(URL.canParse(jwksUri) && new URL(jwksUri).protocol === "https:"))
    throw new Error(`the key set's URL must use https scheme, got: ${jwksUri}`);
  if (!keys.length) throw new Error("there is no key to publish");
  const published = keys.map((key) => {
    const { kty, crv, x, y, n, e } = publicKeyOf(key).key.export({ format: "jwk" });
    return { use: "sig", kty, kid: key.id, crv, alg: key.algorithm, x, y, n, e };
  });
  return {
    configuration: JSON.stringify({
      issuer,
      jwks_uri: jwksUri || `https://${externalAddress}${openIdPaths.keys}`,
      response_types_supported: ["id_token"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: [...new Set(keys.map(({ algorithm }) => algorithm))].toSorted(),
    }),
    keys: JSON.stringify({ keys: published }),
  };
}
