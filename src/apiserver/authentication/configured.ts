// The authentication methods of the file --authentication-config, reloaded while the server runs.
import { readFileSync } from "node:fs";
import {
  type AnonymousRule,
  type JwtIssuer,
  type TokenMethod,
  type TokenObserver,
  cachedTokens,
  documentFetcher,
  oidcTokens,
  parseAuthenticationConfig,
} from "#authn";
import type { Clock } from "#base";
import type { Dialect } from "#dialect";
import type { Dial } from "#http";
import { signingAlgorithms } from "../options/authentication.ts";
import type { Reloads } from "../serving/reloads.ts";

export interface ConfiguredOptions {
  readonly dialect: Dialect;
  readonly clock: Clock;
  /** The extra attribute of users that identifies their token, if any. */
  readonly idKey: string | undefined;
  /** Issuers of service account tokens; no other issuer may use the same URL. */
  readonly reserved: readonly string[];
  readonly networks: { readonly controlplane?: Dial | undefined; readonly cluster?: Dial | undefined };
  /** How long authenticated identities are cached. */
  readonly cacheMilliseconds: number;
  readonly observer: TokenObserver;
  readonly reloads: Reloads;
}

export interface ConfiguredAuthentication extends TokenMethod {
  /** Undefined if the file does not configure anonymous authentication. */
  anonymous(): AnonymousRule | undefined;
}

export function configuredAuthentication(file: string, options: ConfiguredOptions): ConfiguredAuthentication {
  const { dialect, clock, idKey, reserved, observer, cacheMilliseconds, reloads } = options;
  const read = (text: string) => {
    const { issuers, anonymous } = parseAuthenticationConfig(text, file, dialect, reserved);
    const method = oidcTokens(
      issuers.map((issuer) => ({
        issuer: issuer.url,
        discoveryUrl: issuer.discoveryUrl,
        audiences: issuer.audiences,
        algorithms: signingAlgorithms,
        mapping: issuer.mapping,
        idKey,
        clock,
        fetch: documentFetcher(issuer.ca, dialOf(issuer, options.networks)),
      })),
    );
    // Every version of the file starts with an empty cache, so that identities of removed rules are not
    // reused.
    const cacheOptions = { clock, successMilliseconds: cacheMilliseconds, failureMilliseconds: 0, observer };
    return { anonymous, tokens: cachedTokens(method, cacheOptions) };
  };
  const current = reloads.watchFile("--authentication-config", file, read, readFileSync(file, "utf8"));
  return {
    identify: (token, audiences) => current().tokens.identify(token, audiences),
    anonymous: () => current().anonymous,
  };
}

function dialOf({ url, network }: JwtIssuer, networks: ConfiguredOptions["networks"]): Dial | undefined {
  if (network === undefined) return networks.controlplane;
  const dial = networks[network];
  if (!dial) throw new Error(`the issuer ${url}: egress lookup for "${network}" is not configured`);
  return dial;
}
