// Who is asking: the user behind the request, or 401.
import {
  type Authenticator,
  BadCredential,
  type MaybeIdentity,
  anonymousName,
  type User,
  isBehindSpaces,
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
  /** Told of calls by who is anonymous, and of those that are turned away. */
  unknown?(call: ApiCall): void;
}

/** `unexpected` is told of methods that failed, the log of every credential that was refused. */
export function authenticate(
  authenticator: Authenticator,
  unexpected: RecoverOptions["unexpected"],
  log: Log,
  observer: AuthenticationObserver = {},
): Filter {
  const turnedAway = (call: ApiCall): Error => {
    observer.unknown?.(call);
    return unauthorized();
  };
  const accept = (call: ApiCall, identity: MaybeIdentity, next: () => Promise<Reply>): Promise<Reply> => {
    if (!identity) throw turnedAway(call);
    call.user = identity.user;
    observer.authenticated?.(identity.user.name);
    if (isAnonymous(identity.user)) observer.unknown?.(call);
    call.authenticationNotes = identity.annotations;
    for (const text of identity.warnings ?? []) call.warn(text);
    return next();
  };
  const refuse = (call: ApiCall, error: unknown): never => {
    if (!(error instanceof BadCredential)) throw error;
    for (const failure of error.failures) unexpected(failure, call);
    // The client is told nothing, so this is the only place that says why.
    log.error("Unable to authenticate the request", { err: error.message });
    throw turnedAway(call);
  };
  return {
    name: "authentication",
    // Most users are known at once: no promise is made for them.
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
  if (isBehindSpaces(header(call.call.headers, "authorization") ?? ""))
    call.warn(
      "the provided Authorization header contains extra space before the bearer token, and is ignored",
    );
}
