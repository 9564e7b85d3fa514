// Identity tokens of an OpenID provider: who the claims say it is, if the provider signed them for us.
import type { Clock } from "#base";
import { BadCredential } from "./authenticator.ts";
import type { TokenMethod } from "./bearer-token.ts";
import { distributedClaim } from "./oidc-distributed.ts";
import { type ProviderKeys, providerKeys } from "./oidc-keys.ts";
import type { Identity } from "./user.ts";

export interface OidcOptions {
  readonly issuer: string;
  readonly clientId: string;
  readonly usernameClaim: string;
  /** Put in front of names; "-" for nothing, empty for the usual. */
  readonly usernamePrefix: string;
  readonly groupsClaim: string;
  readonly groupsPrefix: string;
  readonly requiredClaims: Readonly<Record<string, string>>;
  readonly algorithms: readonly string[];
  readonly clock: Clock;
  /** Gets a document, with a bearer token where one is given. */
  readonly fetch: (url: string, token?: string) => Promise<string>;
}

export type Claims = Readonly<Record<string, unknown>>;

const notBeforeLeewaySeconds = 300;
const longestToken = 64 * 1024;

export function oidcTokens(options: OidcOptions): TokenMethod {
  const keysOf = memoizedKeys(options);
  const verify = async (token: string, issuer: string): Promise<Claims> =>
    await verified(token, { keys: keysOf(issuer), issuer, options });
  return {
    identify: async (token) => {
      const issuer = issuerOf(token);
      if (issuer !== options.issuer) return undefined;
      let claims: Claims;
      try {
        claims = await verify(token, issuer);
        if (options.groupsClaim !== "")
          claims = await distributedClaim(claims, options.groupsClaim, {
            fetch: options.fetch,
            verify,
            issuerOf,
          });
      } catch (error) {
        throw new BadCredential(`oidc: ${(error as Error).message}`);
      }
      return identityOf(claims, options);
    },
  };
}

/** Sources of distributed claims have issuers of their own; a few are remembered. */
const mostIssuers = 16;

function memoizedKeys({ clock, fetch }: OidcOptions): (issuer: string) => ProviderKeys {
  const known = new Map<string, ProviderKeys>();
  return (issuer) => {
    let keys = known.get(issuer);
    if (!keys) {
      if (known.size >= mostIssuers) throw new Error("claims come from too many issuers");
      keys = providerKeys({ issuer, clock, fetch: async (url) => JSON.parse(await fetch(url)) as unknown });
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
  const { algorithms, clientId, clock } = of.options;
  const [{ compactVerify }, { importJWK }] = await Promise.all([
    import("jose/jws/compact/verify"),
    import("jose/key/import"),
  ]);
  const header = JSON.parse(Buffer.from(token.split(".", 1)[0]!, "base64url").toString()) as {
    alg?: unknown;
    kid?: unknown;
  };
  const algorithm = header.alg;
  if (typeof algorithm !== "string" || !algorithms.includes(algorithm))
    throw new Error(`the algorithm ${JSON.stringify(algorithm)} is not accepted`);
  const kid = typeof header.kid === "string" && header.kid !== "" ? header.kid : undefined;
  let failure: Error | undefined;
  for (const jwk of await of.keys.candidates(kid)) {
    if (jwk.alg !== undefined && jwk.alg !== algorithm) continue;
    try {
      const key = await importJWK(jwk as never, algorithm);
      const { payload } = await compactVerify(token, key, { algorithms: [algorithm] });
      const claims = JSON.parse(Buffer.from(payload).toString()) as Claims;
      checkClaims(claims, of.issuer, clientId, clock.now() / 1000);
      return claims;
    } catch (error) {
      failure = error as Error;
    }
  }
  throw failure ?? new Error("no key of the issuer fits the token");
}

function checkClaims(claims: Claims, issuer: string, clientId: string, now: number): void {
  const { iss, aud, exp, nbf } = claims;
  if (iss !== issuer) throw new Error(`the issuer is ${JSON.stringify(iss)}`);
  const audiences = typeof aud === "string" ? [aud] : Array.isArray(aud) ? aud : [];
  if (!audiences.includes(clientId)) throw new Error("the token is meant for somebody else");
  if (typeof exp !== "number" || exp <= now) throw new Error("the token has expired");
  if (nbf !== undefined && (typeof nbf !== "number" || nbf > now + notBeforeLeewaySeconds))
    throw new Error("the token is not good yet");
}

function identityOf(claims: Claims, options: OidcOptions): Identity {
  const refuse = (why: string): never => {
    throw new BadCredential(`oidc: ${why}`);
  };
  const { usernameClaim, groupsClaim, groupsPrefix, requiredClaims } = options;
  const claimed = claims[usernameClaim];
  // As elsewhere an empty claim is a user without a name, whose groups count; a missing one is none.
  if (typeof claimed !== "string" && claimed !== null)
    return refuse(`the claim ${usernameClaim} is ${claimed === undefined ? "missing" : "not text"}`);
  const name = `${prefixOf(options)}${claimed ?? ""}`;
  if (
    usernameClaim === "email" &&
    claims["email_verified"] !== undefined &&
    claims["email_verified"] !== true
  )
    return refuse("the email address is not verified");
  const groups = groupsClaim === "" ? [] : groupsOf(claims[groupsClaim]);
  if (!groups) return refuse(`the claim ${groupsClaim} is neither text nor a list of texts`);
  for (const [claim, value] of Object.entries(requiredClaims))
    if (claims[claim] !== value) return refuse(`the claim ${claim} does not have the value that is required`);
  return {
    user: { name, groups: groups.map((group) => `${groupsPrefix}${group}`) },
  };
}

function prefixOf({ usernamePrefix, usernameClaim, issuer }: OidcOptions): string {
  if (usernamePrefix === "-") return "";
  if (usernamePrefix !== "") return usernamePrefix;
  return usernameClaim === "email" ? "" : `${issuer}#`;
}

function groupsOf(claim: unknown): string[] | undefined {
  if (claim === undefined || claim === null) return [];
  if (typeof claim === "string") return [claim];
  if (!Array.isArray(claim) || !claim.every((group) => group === null || typeof group === "string"))
    return undefined;
  return claim.map((group: string | null) => group ?? "");
}
