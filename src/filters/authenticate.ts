// Authentication: determines the user of a request, or responds with 401.
import {
  type Authenticator,
  BadCredential,
  type MaybeIdentity,
  anonymousName,
  type User,
  hasExtraSpaces,
  unauthenticatedGroup,
} from "#authn";
import { type Log, unauthorized } from "#base";
import type { ApiCall } from "#endpoints";
import { type Reply, header } from "#http";
import { CallCredentials } from "./credentials.ts";
import type { Filter } from "./filter.ts";
import type { RecoverOptions } from "./recover.ts";

export interface AuthenticationObserver {
  authenticated?(username: string): void;
  /** Called for requests of the anonymous user and for rejected ones. */
  unauthenticated?(call: ApiCall): void;
}

/** `unexpected` receives authentication methods that failed; every rejected credential is logged. */
export function authenticate(
  authenticator: Authenticator,
  unexpected: RecoverOptions["unexpected"],
  log: Log,
  observer: AuthenticationObserver = {},
): Filter {
  const rejection = (call: ApiCall): Error => {
    observer.unauthenticated?.(call);
    return unauthorized();
  };
  const accept = (call: ApiCall, identity: MaybeIdentity, next: () => Promise<Reply>): Promise<Reply> => {
    if (!identity) throw rejection(call);
    call.user = identity.user;
    observer.authenticated?.(identity.user.name);
    if (isAnonymous(identity.user)) observer.unauthenticated?.(call);
    call.authenticationAnnotations = identity.annotations;
    for (const text of identity.warnings ?? []) call.warn(text);
    return next();
  };
  const refuse = (call: ApiCall, error: unknown): never => {
    if (!(error instanceof BadCredential)) throw error;
    for (const failure of error.failures) unexpected(failure, call);
    // The reason is not sent to the client, so it only appears in the log.
    log.error("Unable to authenticate the request", { err: error.message });
    throw rejection(call);
  };
  return {
    name: "authentication",
    // Most users are determined synchronously: no promise is created for them.
    run: (call, next) => {
      if (call.call.peer.trusted) {
        call.user = call.call.peer.trusted;
        return next();
      }
      const credentials = new CallCredentials(call.call, call.target.path);
      if (credentials.bearerToken === undefined) warnOfSpaces(call);
      let found;
      try {
        found = authenticator.authenticate(credentials);
      } catch (error) {
        return refuse(call, error);
      }
      if (!(found instanceof Promise)) return accept(call, found, next);
      return found
        .catch((error: unknown) => refuse(call, error))
        .then((identity) => accept(call, identity, next));
    },
  };
}

const isAnonymous = ({ name, groups }: User): boolean =>
  name === anonymousName || groups.includes(unauthenticatedGroup);

function warnOfSpaces(call: ApiCall): void {
  if (hasExtraSpaces(header(call.call.headers, "authorization") ?? ""))
    call.warn(
      "the provided Authorization header contains extra space before the bearer token, and is ignored",
    );
}
