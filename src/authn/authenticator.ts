// What an authenticator sees and says. It answers with an identity, with nothing ("not my kind of
// credential"), or throws BadCredential, which becomes 401. Methods are asked in order: a later good
// credential heals an earlier bad one.

import type { X509Certificate } from "node:crypto";
import { type Identity, anonymousIdentity, authenticated } from "./user.ts";

/** The parts of a request that can prove who is asking. */
export interface Credentials {
  /** From the Authorization header, see bearerToken(). */
  readonly bearerToken?: string | undefined;
  /** All values of a request header in order, its name in lower case; empty when it was not sent. */
  headers(name: string): readonly string[];
  /** The names of all headers sent, in lower case. */
  headerNames(): Iterable<string>;
  /** What the peer presented in the TLS handshake, its own certificate first; not verified yet. */
  readonly certificates?: readonly X509Certificate[] | undefined;
}

export interface Authenticator {
  authenticate(credentials: Credentials): Promise<Identity | undefined>;
}

/** A credential was given and is not good. */
export class BadCredential extends Error {
  override readonly name = "BadCredential";
}

/**
 * Asks in order; the first identity wins. When none is found and a credential was bad, that is the answer.
 */
export function firstOf(methods: readonly Authenticator[]): Authenticator {
  return {
    authenticate: async (credentials) => {
      const bad: BadCredential[] = [];
      for (const method of methods) {
        try {
          const identity = await method.authenticate(credentials);
          if (identity) return identity;
        } catch (error) {
          if (!(error instanceof BadCredential)) throw error;
          bad.push(error);
        }
      }
      if (bad.length)
        throw bad.length === 1
          ? bad[0]!
          : new BadCredential(`[${bad.map((error) => error.message).join(", ")}]`);
      return undefined;
    },
  };
}

/**
 * The whole chain: methods in order, the group of authenticated users, and anonymous only when no credential
 * was given at all.
 */
export function authenticatorOf(
  methods: readonly Authenticator[],
  options: { readonly anonymous: boolean },
): Authenticator {
  const chain = firstOf(methods);
  return {
    authenticate: async (credentials) => {
      const identity = await chain.authenticate(credentials);
      if (identity) return authenticated(identity);
      return options.anonymous ? anonymousIdentity : undefined;
    },
  };
}
