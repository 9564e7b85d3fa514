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
    run: (call, next) => (mayImpersonate(call.call) ? runImpersonated(call, next) : next()),
  };

  async function runImpersonated(call: ApiCall, next: () => Promise<Reply>): Promise<Reply> {
    let impersonated: Impersonation | undefined;
    try {
      impersonated = impersonation(new CallCredentials(call.call, call.target.path), dialect);
    } catch (error) {
      if (error instanceof UserMissing) return internalErrorReply(call, error.message);
      throw error;
    }
    if (!impersonated) return await next();
    call.setHeader("x-content-type-options", "nosniff");
    for (const check of impersonated.checks)
      await authorizeOrThrow(authorizer, { user: call.user!, ...check }).catch((error: ApiError) => {
        log.verbose(4, "Forbidden", { URI: uriOf(call), reason: error.message });
        throw error;
      });
    call.setHeader("x-content-type-options", undefined);
    const message = `${call.user?.name} is acting as ${impersonated.user.name}`;
    // If requests are logged, this is part of the request's log line.
    if (call.logFields) call.logFields["addedInfo"] = message;
    else log.verbose(2, message);
    call.user = impersonated.user;
    call.audit?.impersonated(impersonated.user);
    return await next();
  }
}
