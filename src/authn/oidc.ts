// Identity tokens of an OpenID provider: who the claims say it is, if the provider signed them for us.
import { type Clock, goTime } from "#base";
import { BadCredential } from "./authenticator.ts";
import type { TokenMethod } from "./bearer-token.ts";
import { type ClaimMapping, type Claims, identityOf } from "./claims.ts";
import { distributedClaim } from "./oidc-distributed.ts";
import { type JsonWebKeyEntry, NotInitialized, type ProviderKeys, providerKeys } from "./oidc-keys.ts";
import { type ParsedToken, issuerOf, parseToken } from "./oidc-token.ts";
import type { Identity } from "./user.ts";

/** One issuer of tokens, and what is made of their claims. */
export interface OidcOptions {
  readonly issuer: string;
  /** Where its discovery document is, when that is not below the issuer's URL. */
  readonly discoveryUrl?: string | undefined;
  /** A token must be meant for one of them. */
  readonly audiences: readonly string[];
  readonly algorithms: readonly string[];
  readonly mapping: ClaimMapping;
  readonly clock: Clock;
  /** Gets a document, with a bearer token where one is given. */
  readonly fetch: (url: string, token?: string) => Promise<string>;
}

const notBeforeLeewaySeconds = 60;

/** Issuers are told apart by their names: a token is judged by the one that it names, if that is known. */
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
  const { fetch, issuer, mapping } = options;
  const groupsClaim = mapping.groups && "claim" in mapping.groups ? mapping.groups.claim : "";
  return async (token) => {
    try {
      let claims = await during("verify token", () => verify(token, issuer));
      if (groupsClaim !== "")
        claims = await during("could not expand distributed claims", () =>
          distributedClaim(claims, groupsClaim, { fetch, verify, issuerOf }),
        );
      return identityOf(claims, mapping);
    } catch (error) {
      throw new BadCredential(`oidc: ${(error as Error).message}`);
    }
  };
}

/** Failures say what was being done, except those that come before it. */
async function during<T>(what: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof NotInitialized) throw error;
    throw new Error(`${what}: ${(error as Error).message}`, { cause: error });
  }
}

/** Sources of distributed claims have issuers of their own; a few are remembered. */
const mostIssuers = 16;

function memoizedKeys({ clock, fetch, ...own }: OidcOptions): (issuer: string) => ProviderKeys {
  const known = new Map<string, ProviderKeys>();
  return (issuer) => {
    let keys = known.get(issuer);
    if (!keys) {
      if (known.size >= mostIssuers) throw new Error("claims come from too many issuers");
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
  // Cheap checks come before the keys, which may have to be fetched.
  checkClaims(parsed, of.issuer, audiences, clock.now());
  const { alg: algorithm, plainPayload } = parsed.header;
  if (!algorithms.includes(algorithm))
    throw new Error(
      `oidc: id token signed with unsupported algorithm, expected ${quoted(algorithms)} got ${JSON.stringify(algorithm)}`,
    );
  const kid = parsed.header.kid === "" ? undefined : parsed.header.kid;
  // A payload that is not in base64 when it is signed would be another one than that which was checked.
  const signed =
    !plainPayload &&
    ((await signedBy(await of.keys.candidates(kid))) || (await signedBy(await of.keys.newCandidates(kid))));
  if (!signed) throw new Error("failed to verify signature: failed to verify id token signature");
  return parsed.claims;

  /** Whether one of the keys signed the token. */
  async function signedBy(keys: readonly JsonWebKeyEntry[]): Promise<boolean> {
    for (const jwk of keys) {
      if (jwk.alg !== undefined && jwk.alg !== algorithm) continue;
      try {
        const key = await importJWK(jwk as never, algorithm);
        await compactVerify(token, key, { algorithms: [algorithm] });
        return true;
      } catch {
        // Another key may fit.
      }
    }
    return false;
  }
}

const quoted = (texts: readonly unknown[]): string =>
  `[${texts.map((text) => JSON.stringify(text)).join(" ")}]`;

/** Go's zero time, which a token without a time of expiry has. */
const noTime = "0001-01-01 00:00:00 +0000 UTC";
/** The last second of 64 bits, at which Go's times begin again. */
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
