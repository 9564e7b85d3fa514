// What the file of --authentication-config asks for, followed while the server runs.
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
  /** Issuers of service account tokens; no other issuer may be called like one. */
  readonly reserved: readonly string[];
  readonly networks: { readonly controlplane?: Dial | undefined; readonly cluster?: Dial | undefined };
  /** How long identities are kept. */
  readonly keptMilliseconds: number;
  readonly observer: TokenObserver;
  readonly reloads: Reloads;
}

export interface ConfiguredAuthentication extends TokenMethod {
  /** Undefined where the file says nothing of it. */
  anonymous(): AnonymousRule | undefined;
}

export function configuredAuthentication(file: string, options: ConfiguredOptions): ConfiguredAuthentication {
  const { dialect, clock, reserved, observer, keptMilliseconds, reloads } = options;
  const read = (text: string) => {
    const { issuers, anonymous } = parseAuthenticationConfig(text, file, dialect, reserved);
    const method = oidcTokens(
      issuers.map((issuer) => ({
        issuer: issuer.url,
        discoveryUrl: issuer.discoveryUrl,
        audiences: issuer.audiences,
        algorithms: signingAlgorithms,
        mapping: issuer.mapping,
        clock,
        fetch: documentFetcher(issuer.ca, dialOf(issuer, options.networks)),
      })),
    );
    // A new version of the file starts with nothing kept: rules that are gone must not live on.
    const kept = { clock, successMilliseconds: keptMilliseconds, failureMilliseconds: 0, observer };
    return { anonymous, tokens: cachedTokens(method, kept) };
  };
  const current = reloads.followed("--authentication-config", file, read, readFileSync(file, "utf8"));
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
