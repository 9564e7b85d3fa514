// The Authenticator interface. An authenticator returns an identity, returns undefined if the request has no
// credential of its kind, or throws: BadCredential, or another error if it could not decide. Methods are
// tried in order: an identity found later overrides earlier errors; without an identity, errors result in 401,
// as in kube-apiserver.

import type { X509Certificate } from "node:crypto";
import { type Identity, anonymousIdentity, authenticated } from "./user.ts";

/** The parts of a request that can authenticate the user. */
export interface Credentials {
  /** From the Authorization header, see bearerToken(). */
  readonly bearerToken?: string | undefined;
  /** All values of a request header in order; the name is in lower case. Empty if the header was not sent. */
  headers(name: string): readonly string[];
  /** The names of all headers sent, in lower case. */
  headerNames(): Iterable<string>;
  /** The certificates the peer presented in the TLS handshake, its own first; not verified yet. */
  readonly certificates?: readonly X509Certificate[] | undefined;
  /** The decoded path of the request. */
  readonly path?: string | undefined;
}

export interface Authenticator {
  /** Returns the result synchronously where possible, since most requests repeat a known credential. */
  authenticate(credentials: Credentials): MaybeIdentity | Promise<MaybeIdentity>;
}

/** The authenticated identity, if any. */
export type MaybeIdentity = Identity | undefined;

/** The credential is invalid. */
export class BadCredential extends Error {
  override readonly name = "BadCredential";
  /** Errors that prevented methods from validating the credential, for the log. */
  readonly failures: readonly Error[];
  constructor(message: string, failures: readonly Error[] = []) {
    super(message);
    this.failures = failures;
  }
}

/** Combines the errors of several methods into one. */
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
 * Tries the methods in order; the first identity wins, regardless of earlier errors. Without one, it
 * throws if a credential was bad or could not be validated.
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

/** Continues asynchronously after a method that returned a promise. */
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
 * Returns the whole chain: the methods in order, the group of authenticated users, and the anonymous user if
 * no credential was given and anonymous requests are allowed.
 */
export function authenticatorOf(
  methods: readonly Authenticator[],
  { anonymous }: { readonly anonymous: boolean | ((credentials: Credentials) => boolean) },
): Authenticator {
  const chain = firstOf(methods);
  const allowsAnonymous = typeof anonymous === "function" ? anonymous : () => anonymous;
  const admitted = (found: MaybeIdentity, credentials: Credentials): MaybeIdentity => {
    if (found) return authenticated(found);
    return allowsAnonymous(credentials) ? anonymousIdentity : undefined;
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
