// A user who may impersonate another one acts as that one from here on.
import { type Authorizer, impersonation } from "#authz";
import type { Dialect } from "#dialect";
import type { ApiCall } from "#endpoints";
import type { Call, Reply } from "#http";
import { authorizeOrThrow } from "./authorize.ts";
import { CallCredentials } from "./credentials.ts";
import type { Filter } from "./filter.ts";

function mayImpersonate({ headers }: Call): boolean {
  for (const name in headers) if (name.charCodeAt(0) === 105 && name.startsWith("impersonate-")) return true;
  return false;
}

export function impersonate(authorizer: Authorizer, dialect: Dialect): Filter {
  return {
    name: "impersonation",
    run: (call, next) => (mayImpersonate(call.call) ? asOther(call, next) : next()),
  };

  async function asOther(call: ApiCall, next: () => Promise<Reply>): Promise<Reply> {
    const wanted = impersonation(new CallCredentials(call.call, call.target.path), dialect);
    if (!wanted) return await next();
    call.setHeader("x-content-type-options", "nosniff");
    for (const check of wanted.checks) await authorizeOrThrow(authorizer, { user: call.user!, ...check });
    call.setHeader("x-content-type-options", undefined);
    call.user = wanted.user;
    call.audit?.impersonated(wanted.user);
    return await next();
  }
}
