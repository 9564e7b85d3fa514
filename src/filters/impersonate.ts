// Replaces the user of a request by the impersonated user, if permitted.
import { type Authorizer, type Impersonation, UserMissing, impersonation } from "#authz";
import type { ApiError, Log } from "#base";
import type { Dialect } from "#dialect";
import type { ApiCall } from "#endpoints";
import type { Call, Reply } from "#http";
import { authorizeOrThrow, internalErrorReply, uriOf } from "./authorize.ts";
import { CallCredentials } from "./credentials.ts";
import type { Filter } from "./filter.ts";

function mayImpersonate({ headers }: Call): boolean {
  for (const name in headers) if (name.charCodeAt(0) === 105 && name.startsWith("impersonate-")) return true;
  return false;
}

export function impersonate(authorizer: Authorizer, dialect: Dialect, log: Log): Filter {
  return {
    name: "impersonation",
    run: (call, next) => (mayImpersonate(call.call) ? asOther(call, next) : next()),
  };

  async function asOther(call: ApiCall, next: () => Promise<Reply>): Promise<Reply> {
    let wanted: Impersonation | undefined;
    try {
      wanted = impersonation(new CallCredentials(call.call, call.target.path), dialect);
    } catch (error) {
      if (error instanceof UserMissing) return internalErrorReply(call, error.message);
      throw error;
    }
    if (!wanted) return await next();
    call.setHeader("x-content-type-options", "nosniff");
    for (const check of wanted.checks)
      await authorizeOrThrow(authorizer, { user: call.user!, ...check }).catch((error: ApiError) => {
        log.verbose(4, "Forbidden", { URI: uriOf(call), reason: error.message });
        throw error;
      });
    call.setHeader("x-content-type-options", undefined);
    const acting = `${call.user?.name} is acting as ${wanted.user.name}`;
    // If requests are logged, this is part of the request's log line.
    if (call.logged) call.logged["addedInfo"] = acting;
    else log.verbose(2, acting);
    call.user = wanted.user;
    call.audit?.impersonated(wanted.user);
    return await next();
  }
}
