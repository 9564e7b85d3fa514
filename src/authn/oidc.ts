// Identity tokens of an OpenID provider: who the claims say it is, if the provider signed them for us.
import type { Clock } from "#base";
import { BadCredential } from "./authenticator.ts";
import type { TokenMethod } from "./bearer-token.ts";
import { type ClaimMapping, type Claims, identityOf } from "./claims.ts";
import { distributedClaim } from "./oidc-distributed.ts";
import { type JsonWebKeyEntry, NotInitialized, type ProviderKeys, providerKeys } from "./oidc-keys.ts";
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
const longestToken = 64 * 1024;

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
        fetch: async (url) => JSON.parse(await fetch(url)) as unknown,
      });
      known.set(issuer, keys);
    }
    return keys;
  };
}

/** The issuer a token names, before anything is verified; undefined when it is no token of this kind. */
export function issuerOf(token: string): string | undefined {
  const parts = token.split(".");
  if (parts.length !== 3 || token.length > longestToken) return undefined;
  try {
    const { iss } = JSON.parse(Buffer.from(parts[1]!, "base64url").toString()) as { iss?: unknown };
    return typeof iss === "string" ? iss : undefined;
  } catch {
    return undefined;
  }
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
  const [head = "", body = ""] = token.split(".");
  const header = partOf(head) as { readonly alg?: unknown; readonly kid?: unknown };
  // Cheap checks come before the keys, which may have to be fetched.
  checkClaims(partOf(body) as Claims, of.issuer, audiences, clock.now());
  const algorithm = header.alg;
  if (typeof algorithm !== "string" || !algorithms.includes(algorithm))
    throw new Error(
      `oidc: id token signed with unsupported algorithm, expected ${quoted(algorithms)} got ${JSON.stringify(algorithm ?? "")}`,
    );
  const kid = typeof header.kid === "string" && header.kid !== "" ? header.kid : undefined;
  const payload =
    (await payloadBy(await of.keys.candidates(kid))) ?? (await payloadBy(await of.keys.newCandidates(kid)));
  if (!payload) throw new Error("failed to verify signature: failed to verify id token signature");
  const claims = JSON.parse(Buffer.from(payload).toString()) as Claims;
  checkClaims(claims, of.issuer, audiences, clock.now());
  return claims;

  /** What the token says, by the first of the keys that signed it. */
  async function payloadBy(keys: readonly JsonWebKeyEntry[]): Promise<Uint8Array | undefined> {
    for (const jwk of keys) {
      if (jwk.alg !== undefined && jwk.alg !== algorithm) continue;
      try {
        const key = await importJWK(jwk as never, algorithm as string);
        return (await compactVerify(token, key, { algorithms: [algorithm as string] })).payload;
      } catch {
        // Another key may fit.
      }
    }
    return undefined;
  }
}

function partOf(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, "base64url").toString()) as unknown;
  } catch (error) {
    throw new Error(`oidc: malformed jwt: ${(error as Error).message}`, { cause: error });
  }
}

const quoted = (texts: readonly unknown[]): string =>
  `[${texts.map((text) => JSON.stringify(text)).join(" ")}]`;

/** Go's zero time, which a token without a time of expiry has. */
const noTime = "0001-01-01 00:00:00 +0000 UTC";
const shownTime = (seconds: unknown): string =>
  typeof seconds === "number" && Number.isFinite(seconds)
    ? `${new Date(Math.trunc(seconds) * 1000).toISOString().slice(0, 19).replace("T", " ")} +0000 UTC`
    : noTime;

function checkClaims(claims: Claims, issuer: string, accepted: readonly string[], now: number): void {
  const { iss, aud, exp, nbf } = claims;
  if (iss !== issuer)
    throw new Error(
      `oidc: id token issued by a different provider, expected ${JSON.stringify(issuer)} got ${JSON.stringify(iss ?? "")}`,
    );
  const audiences = typeof aud === "string" ? [aud] : Array.isArray(aud) ? aud : [];
  if (!audiences.some((audience) => accepted.includes(audience as string))) {
    const expected = accepted.length === 1 ? JSON.stringify(accepted[0]) : `in ${quoted(accepted)}`;
    throw new Error(`oidc: expected audience ${expected} got ${quoted(audiences)}`);
  }
  if (typeof exp !== "number" || Math.trunc(exp) * 1000 < now)
    throw new Error(`oidc: token is expired (Token Expiry: ${shownTime(exp)})`);
  if (nbf === undefined || nbf === null) return;
  if (typeof nbf !== "number" || Math.trunc(nbf) > now / 1000 + notBeforeLeewaySeconds)
    throw new Error(
      `oidc: current time ${shownTime(now / 1000)} before the nbf (not before) time: ${shownTime(nbf)}`,
    );
}
