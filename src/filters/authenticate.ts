// Who is asking: the user behind the request, or 401.
import { type Authenticator, BadCredential, isBehindSpaces } from "#authn";
import { unauthorized } from "#base";
import { header } from "#http";
import { CallCredentials } from "./credentials.ts";
import type { Filter } from "./filter.ts";
import type { RecoverOptions } from "./recover.ts";

/** `unexpected` is told of methods that failed. */
export function authenticate(
  authenticator: Authenticator,
  unexpected: RecoverOptions["unexpected"],
  observer?: { authenticated(username: string): void },
): Filter {
  return {
    name: "authentication",
    run: async (call, next) => {
      if (call.call.peer.trusted) call.user = call.call.peer.trusted;
      else {
        try {
          const credentials = new CallCredentials(call.call, call.target.path);
          if (
            credentials.bearerToken === undefined &&
            isBehindSpaces(header(call.call.headers, "authorization") ?? "")
          )
            call.warn(
              "the provided Authorization header contains extra space before the bearer token, and is ignored",
            );
          const identity = await authenticator.authenticate(credentials);
          if (!identity) throw unauthorized();
          call.user = identity.user;
          observer?.authenticated(identity.user.name);
          call.authenticationNotes = identity.annotations;
          for (const text of identity.warnings ?? []) call.warn(text);
        } catch (error) {
          if (!(error instanceof BadCredential)) throw error;
          for (const failure of error.failures) unexpected(failure, call);
          throw unauthorized();
        }
      }
      return await next();
    },
  };
}
