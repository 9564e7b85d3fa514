// Authenticates identity tokens of OpenID providers by signature and claims.
import { type Clock, goTime } from "#base";
import { BadCredential } from "./authenticator.ts";
import type { TokenMethod } from "./bearer-token.ts";
import { type ClaimMapping, type Claims, identityOf } from "./claims.ts";
import { distributedClaim } from "./oidc-distributed.ts";
import { type JsonWebKeyEntry, NotInitialized, type ProviderKeys, providerKeys } from "./oidc-keys.ts";
import { type ParsedToken, issuerOf, parseToken } from "./oidc-token.ts";
import type { Identity } from "./user.ts";

/** An issuer of tokens, and the mapping of their claims. */
export interface OidcOptions {
  readonly issuer: string;
  /** The URL of the discovery document, if it is not below the issuer's URL. */
  readonly discoveryUrl?: string | undefined;
  /** The accepted audiences; a token must have one of them. */
  readonly audiences: readonly string[];
  readonly algorithms: readonly string[];
  readonly mapping: ClaimMapping;
  /** The extra attribute of users that identifies their token, if any. */
  readonly idKey?: string | undefined;
  readonly clock: Clock;
  /** Fetches a document, with a bearer token if given. */
  readonly fetch: (url: string, token?: string) => Promise<string>;
}

const notBeforeLeewaySeconds = 60;

/** Selects the issuer that a token names, if it is configured. */
export function oidcTokens(issuers: readonly OidcOptions[]): TokenMethod {
  const known = new Map(issuers.map((options) => [options.issuer, issuerMethod(options)]));
  return {
    identify: (token) => {
      const issuer = issuerOf(token);
      return issuer === undefined ? undefined : known.get(issuer)?.(token);
    },
  };
}

function issuerMethod(options: OidcOptions): (token: string) => Promise<Identity> {
  const keysOf = memoizedKeys(options);
  const verify = async (token: string, issuer: string): Promise<Claims> =>
    await verified(token, { keys: keysOf(issuer), issuer, options });
  const { fetch, issuer, mapping, idKey } = options;
  const groupsClaim = mapping.groups && "claim" in mapping.groups ? mapping.groups.claim : "";
  return async (token) => {
    try {
      let claims = await withContext("verify token", () => verify(token, issuer));
      if (groupsClaim !== "")
        claims = await withContext("could not expand distributed claims", () =>
          distributedClaim(claims, groupsClaim, { fetch, verify, issuerOf }),
        );
      return identityOf(claims, mapping, idKey);
    } catch (error) {
      throw new BadCredential(`oidc: ${(error as Error).message}`);
    }
  };
}

/** Prefixes errors with the operation, except for errors during initialization. */
async function withContext<T>(what: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof NotInitialized) throw error;
    throw new Error(`${what}: ${(error as Error).message}`, { cause: error });
  }
}

/** Maximum number of cached key sets: sources of distributed claims have their own issuers. */
const maxIssuers = 16;

function memoizedKeys({ clock, fetch, ...own }: OidcOptions): (issuer: string) => ProviderKeys {
  const known = new Map<string, ProviderKeys>();
  return (issuer) => {
    let keys = known.get(issuer);
    if (!keys) {
      if (known.size >= maxIssuers) throw new Error("claims come from too many issuers");
      keys = providerKeys({
        issuer,
        discoveryUrl: issuer === own.issuer ? own.discoveryUrl : undefined,
        clock,
        fetch,
      });
      known.set(issuer, keys);
    }
    return keys;
  };
}

async function verified(
  token: string,
  of: { readonly keys: ProviderKeys; readonly issuer: string; readonly options: OidcOptions },
): Promise<Claims> {
  const { algorithms, audiences, clock } = of.options;
  const [{ compactVerify }, { importJWK }] = await Promise.all([
    import("jose/jws/compact/verify"),
    import("jose/key/import"),
  ]);
  const parsed = parseToken(token);
  // Check the claims first: fetching the keys is expensive.
  checkClaims(parsed, of.issuer, audiences, clock.now());
  const { alg: algorithm, plainPayload } = parsed.header;
  if (!algorithms.includes(algorithm))
    throw new Error(
      `oidc: id token signed with unsupported algorithm, expected ${quoted(algorithms)} got ${JSON.stringify(algorithm)}`,
    );
  const kid = parsed.header.kid === "" ? undefined : parsed.header.kid;
  // A signature over an unencoded payload would cover a different payload than the one checked.
  const known = plainPayload ? [] : await of.keys.candidates(kid);
  const signed =
    !plainPayload && ((await signedBy(known)) || (await signedBy(await of.keys.newCandidates(kid, known))));
  if (!signed) throw new Error("failed to verify signature: failed to verify id token signature");
  return parsed.claims;

  /** Reports whether one of the keys signed the token. */
  async function signedBy(keys: readonly JsonWebKeyEntry[]): Promise<boolean> {
    for (const jwk of keys) {
      if (jwk.alg !== undefined && jwk.alg !== algorithm) continue;
      try {
        const key = await importJWK(jwk as never, algorithm);
        await compactVerify(token, key, { algorithms: [algorithm] });
        return true;
      } catch {
        // Try the next key.
      }
    }
    return false;
  }
}

const quoted = (texts: readonly unknown[]): string =>
  `[${texts.map((text) => JSON.stringify(text)).join(" ")}]`;

/** Go's zero time, printed for a token without an expiry time. */
const noTime = "0001-01-01 00:00:00 +0000 UTC";
/** Overflow limit of Go's 64-bit seconds. */
const lastSecond = 2 ** 63;
const shownTime = (seconds: number | undefined): string => {
  if (seconds === undefined) return noTime;
  if (seconds >= lastSecond) return "292277026596-12-04 15:30:07 +0000 UTC";
  const time = new Date(seconds * 1000);
  if (Number.isNaN(time.getTime())) return noTime;
  return goTime(time);
};

function checkClaims(token: ParsedToken, issuer: string, accepted: readonly string[], now: number): void {
  const { audiences, expiry, notBefore } = token;
  if (token.issuer !== issuer)
    throw new Error(
      `oidc: id token issued by a different provider, expected ${JSON.stringify(issuer)} got ${JSON.stringify(token.issuer)}`,
    );
  if (!audiences.some((audience) => accepted.includes(audience))) {
    const expected = accepted.length === 1 ? JSON.stringify(accepted[0]) : `in ${quoted(accepted)}`;
    throw new Error(`oidc: expected audience ${expected} got ${quoted(audiences)}`);
  }
  if (expiry === undefined || expiry * 1000 < now || expiry >= lastSecond)
    throw new Error(`oidc: token is expired (Token Expiry: ${shownTime(expiry)})`);
  if (notBefore !== undefined && notBefore > now / 1000 + notBeforeLeewaySeconds)
    throw new Error(
      `oidc: current time ${shownTime(Math.trunc(now / 1000))} before the nbf (not before) time: ${shownTime(notBefore)}`,
    );
}
