// Audit events of sign-in attempts at the web page, which is served in front of the request filters. They
// contain neither the code nor the token.
import { type Audit, AuditRecord } from "#audit";
import type { Clock } from "#base";
import { auditClient, newAuditId } from "#filters";
import type { Call } from "#http";

/** A sign-in attempt: the user, if it succeeded, and the status code of the reply. */
export interface SignInAttempt {
  readonly user: { readonly name: string; readonly groups: readonly string[] } | undefined;
  readonly status: number;
}

export function auditSignIn(
  audit: Audit,
  clock: Clock,
): (call: Call, attempt: SignInAttempt) => Promise<void> {
  return async (call, { user, status }) => {
    const verb = call.method.toLowerCase();
    const config = audit.policy().configFor({ user, verb, path: call.path, resource: undefined });
    audit.metrics.level[config.level].add();
    if (config.level === "None") return;
    const record = new AuditRecord(config, {
      auditId: newAuditId(call),
      requestUri: call.path,
      verb,
      user,
      client: auditClient(call),
      object: undefined,
      receivedAt: call.receivedAt,
    });
    record.status({ code: status });
    if (record.omits("ResponseComplete")) return;
    audit.metrics.events.add();
    await audit.sink.write(record.event("ResponseComplete", clock.now()));
    audit.sink.flush();
  };
}
