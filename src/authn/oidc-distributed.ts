// Distributed claims (OpenID Connect Core §5.6.2): a token may refer to a source from which a claim is
// fetched, as another signed token.
import type { Claims } from "./claims.ts";
import { DocumentRefused } from "./fetch-document.ts";
import { NotInitialized } from "./oidc-keys.ts";

export interface DistributedOptions {
  readonly fetch: (url: string, token?: string) => Promise<string>;
  readonly verify: (token: string, issuer: string) => Promise<Claims>;
  readonly issuerOf: (token: string) => string | undefined;
}

/** The claims of a parsed token that describe sources, with a source for every name. */
interface Sources {
  readonly _claim_names?: Readonly<Record<string, string>> | null;
  readonly _claim_sources?: Readonly<
    Record<string, { readonly endpoint?: unknown; readonly access_token?: unknown } | null>
  > | null;
}

/** Returns the claims, with the wanted one fetched if the token only refers to its source. */
export async function distributedClaim(
  claims: Claims,
  claim: string,
  { fetch, verify, issuerOf }: DistributedOptions,
): Promise<Claims> {
  if (claims[claim] !== undefined) return claims;
  const { _claim_names: names, _claim_sources: sources } = claims as Sources;
  if (names === undefined) return claims;
  if (sources === undefined) throw new Error("oidc: no claim sources");
  const source = names && Object.hasOwn(names, claim) ? names[claim] : undefined;
  if (source === undefined) return claims;
  const { endpoint, access_token: accessToken } = sources?.[source] ?? {};
  // Without an endpoint it may be an aggregated claim, which is not supported.
  if (typeof endpoint !== "string" || endpoint === "") return claims;
  if (!endpoint.startsWith("https://"))
    throw new Error(`the source of the claim ${claim} is not an https URL`);
  const token = typeof accessToken === "string" && accessToken !== "" ? accessToken : undefined;
  const text = await withContext(`while getting distributed claim ${JSON.stringify(claim)}`, () =>
    fetch(endpoint, token).catch((error: unknown) => {
      if (!(error instanceof DocumentRefused)) throw error;
      throw new Error(`error while getting distributed claim JWT: ${error.status}`, { cause: error });
    }),
  );
  const issuer = issuerOf(text.trim());
  if (issuer === undefined)
    throw new Error(
      `getting untrusted issuer from endpoint ${endpoint} failed for claim ${JSON.stringify(claim)}: malformed token`,
    );
  const fetched = await withContext("verify distributed claim token", () => verify(text.trim(), issuer), {
    unless: `verifying untrusted issuer ${issuer} failed: verifier not initialized for issuer: ${JSON.stringify(issuer)}`,
  });
  if (fetched[claim] === undefined)
    throw new Error(
      `jwt returned by distributed claim endpoint ${JSON.stringify(endpoint)} did not contain claim: ${claim}`,
    );
  return { ...claims, [claim]: fetched[claim] };
}

/** Prefixes errors with `what`; `unless` replaces the error if the issuer's keys are not available yet. */
async function withContext<T>(
  what: string,
  run: () => Promise<T>,
  { unless }: { readonly unless?: string } = {},
): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (unless !== undefined && error instanceof NotInitialized) throw new Error(unless, { cause: error });
    throw new Error(`${what}: ${(error as Error).message}`, { cause: error });
  }
}
