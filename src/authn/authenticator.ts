// What an authenticator sees and says. It answers with an identity, with nothing ("not my kind of
// credential"), or throws: BadCredential, or whatever kept it from finding out. Methods are asked in order: a
// later identity makes up for earlier errors, and when there is none, errors become 401, as in kube-apiserver.

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
  /** The decoded path of the request. */
  readonly path?: string | undefined;
}

export interface Authenticator {
  authenticate(credentials: Credentials): Promise<Identity | undefined>;
}

/** A credential was given and is not good. */
export class BadCredential extends Error {
  override readonly name = "BadCredential";
  /** What kept methods from finding out whether the credential is good, for the log. */
  readonly failures: readonly Error[];
  constructor(message: string, failures: readonly Error[] = []) {
    super(message);
    this.failures = failures;
  }
}

/** The errors of several methods as one. */
export function badCredentialOf(errors: readonly Error[]): BadCredential {
  const [first] = errors;
  if (errors.length === 1 && first instanceof BadCredential) return first;
  const messages = errors.map(({ message }) => message);
  return new BadCredential(
    messages.length === 1 ? messages[0]! : `[${messages.join(", ")}]`,
    errors.flatMap((error) => (error instanceof BadCredential ? error.failures : error)),
  );
}

/**
 * Asks in order; the first identity wins, whatever went wrong before. When none is found and a credential was
 * bad or could not be judged, that is the answer.
 */
export function firstOf(methods: readonly Authenticator[]): Authenticator {
  return {
    authenticate: async (credentials) => {
      const errors: Error[] = [];
      for (const method of methods) {
        try {
          const identity = await method.authenticate(credentials);
          if (identity) return identity;
        } catch (error) {
          errors.push(error as Error);
        }
      }
      if (errors.length > 0) throw badCredentialOf(errors);
      return undefined;
    },
  };
}

/**
 * The whole chain: methods in order, the group of authenticated users, and anonymous only when no credential
 * was given at all, and only where it is allowed.
 */
export function authenticatorOf(
  methods: readonly Authenticator[],
  { anonymous }: { readonly anonymous: boolean | ((credentials: Credentials) => boolean) },
): Authenticator {
  const chain = firstOf(methods);
  const letsIn = typeof anonymous === "function" ? anonymous : () => anonymous;
  return {
    authenticate: async (credentials) => {
      const identity = await chain.authenticate(credentials);
      if (identity) return authenticated(identity);
      return letsIn(credentials) ? anonymousIdentity : undefined;
    },
  };
}
