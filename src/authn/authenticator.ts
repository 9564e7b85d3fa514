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
  /** Gives no promise when it knows at once: most requests come from somebody who was seen before. */
  authenticate(credentials: Credentials): MaybeIdentity | Promise<MaybeIdentity>;
}

/** Who was found, if anybody. */
export type MaybeIdentity = Identity | undefined;

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
  return { authenticate: (credentials) => firstFrom(0, methods, credentials, undefined) };
}

function firstFrom(
  start: number,
  methods: readonly Authenticator[],
  credentials: Credentials,
  before: readonly Error[] | undefined,
): MaybeIdentity | Promise<MaybeIdentity> {
  let errors = before;
  for (let at = start; at < methods.length; at++) {
    try {
      const found = methods[at]!.authenticate(credentials);
      if (found instanceof Promise) return firstAfter(found, at, methods, credentials, errors);
      if (found) return found;
    } catch (error) {
      errors = [...(errors ?? []), error as Error];
    }
  }
  if (errors) throw badCredentialOf(errors);
  return undefined;
}

/** A method has to find out: the others are asked when it has answered. */
async function firstAfter(
  pending: Promise<MaybeIdentity>,
  at: number,
  methods: readonly Authenticator[],
  credentials: Credentials,
  before: readonly Error[] | undefined,
): Promise<MaybeIdentity> {
  let errors = before;
  try {
    const found = await pending;
    if (found) return found;
  } catch (error) {
    errors = [...(errors ?? []), error as Error];
  }
  return await firstFrom(at + 1, methods, credentials, errors);
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
  const admitted = (found: MaybeIdentity, credentials: Credentials): MaybeIdentity => {
    if (found) return authenticated(found);
    return letsIn(credentials) ? anonymousIdentity : undefined;
  };
  return {
    authenticate: (credentials) => {
      const found = chain.authenticate(credentials);
      return found instanceof Promise
        ? found.then((identity) => admitted(identity, credentials))
        : admitted(found, credentials);
    },
  };
}
