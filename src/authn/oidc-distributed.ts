// Distributed claims (OpenID Connect Core §5.6.2): a token may say where a claim is to be fetched, as another
// signed token.
import type { Claims } from "./claims.ts";

export interface DistributedOptions {
  readonly fetch: (url: string, token?: string) => Promise<string>;
  readonly verify: (token: string, issuer: string) => Promise<Claims>;
  readonly issuerOf: (token: string) => string | undefined;
}

interface Sources {
  readonly _claim_names?: Readonly<Record<string, unknown>>;
  readonly _claim_sources?: Readonly<
    Record<string, { readonly endpoint?: unknown; readonly access_token?: unknown }>
  >;
}

/** The claims, with the one that is wanted fetched if the token only says where it is. */
export async function distributedClaim(
  claims: Claims,
  claim: string,
  { fetch, verify, issuerOf }: DistributedOptions,
): Promise<Claims> {
  if (claims[claim] !== undefined) return claims;
  const { _claim_names: names, _claim_sources: sources } = claims as Sources;
  const source = names && Object.hasOwn(names, claim) ? names[claim] : undefined;
  if (source === undefined) return claims;
  const from =
    typeof source === "string" && sources && Object.hasOwn(sources, source) ? sources[source] : undefined;
  if (!from || typeof from.endpoint !== "string") throw new Error(`the claim ${claim} has no source`);
  if (!from.endpoint.startsWith("https://"))
    throw new Error(`the source of the claim ${claim} is not an https URL`);
  const token =
    typeof from.access_token === "string" && from.access_token !== "" ? from.access_token : undefined;
  const text = (await fetch(from.endpoint, token)).trim();
  const issuer = issuerOf(text);
  if (issuer === undefined) throw new Error(`the source of the claim ${claim} gave no token`);
  const fetched = await verify(text, issuer);
  if (fetched[claim] === undefined) throw new Error(`the source of the claim ${claim} does not know it`);
  return { ...claims, [claim]: fetched[claim] };
}
