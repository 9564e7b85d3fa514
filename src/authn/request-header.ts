// Authenticates requests from a front proxy: if its client certificate is valid, the user is taken from its
// headers.

import { type Authenticator, BadCredential, type Credentials } from "./authenticator.ts";
import type { CertificateVerifier } from "./certificate-chain.ts";

export interface RequestHeaderOptions {
  /** Verifies the proxy's certificate. */
  readonly verifier: CertificateVerifier;
  /** Common names allowed for the proxy; empty allows any. */
  readonly allowedNames: readonly string[];
  /** The first of these headers with a value names the user. */
  readonly usernameHeaders: readonly string[];
  readonly groupHeaders: readonly string[];
  readonly extraHeaderPrefixes: readonly string[];
}

export function requestHeaders(options: RequestHeaderOptions): Authenticator {
  const usernameHeaders = options.usernameHeaders.map((name) => name.trim().toLowerCase());
  const groupHeaders = options.groupHeaders.map((name) => name.trim().toLowerCase());
  const extraPrefixes = options.extraHeaderPrefixes.map((name) => name.trim().toLowerCase());
  return {
    authenticate: async (credentials) => {
      if (!credentials.certificates?.length) return undefined;
      const { commonName } = options.verifier.verify(credentials.certificates);
      if (options.allowedNames.length && !options.allowedNames.includes(commonName))
        throw new BadCredential(`the proxy's common name ${JSON.stringify(commonName)} is not allowed`);
      const name = usernameHeaders
        .map((header) => credentials.headers(header)[0] ?? "")
        .find((value) => value !== "");
      if (name === undefined) return undefined;
      const groups = groupHeaders
        .flatMap((header) => credentials.headers(header))
        .filter((group) => group !== "");
      return { user: { name, groups, extra: extraOf(credentials, extraPrefixes) } };
    },
  };
}

/** Returns extra user data from headers `<prefix><key>`; the key may be percent-encoded. */
export function extraOf(
  credentials: Pick<Credentials, "headers" | "headerNames">,
  prefixes: readonly string[],
): Record<string, string[]> {
  const extra = new Map<string, string[]>();
  for (const prefix of prefixes) {
    for (const header of credentials.headerNames()) {
      if (!header.startsWith(prefix)) continue;
      const key = decodeKey(header.slice(prefix.length));
      extra.set(key, [...(extra.get(key) ?? []), ...credentials.headers(header)]);
    }
  }
  return Object.fromEntries(extra);
}

/** Decodes a key; an invalid encoding is returned unchanged. */
export function decodeKey(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}
