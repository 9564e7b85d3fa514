// Who may do what: the authorizers in the order the operator gave.
import { type Authorizer, type RbacAuthorizer, abacAuthorizer, alwaysAllow, alwaysDeny, authorizerOf, rbacAuthorizer } from "#authz";
import { bootstrapRoles } from "./bootstrap-roles.ts";
import { rbacSource } from "./rbac-source.ts";
import type { Core } from "./server.ts";
import type { ApiserverSettings } from "./settings-of.ts";

export interface Access {
  readonly authorizer: Authorizer;
  /** Knows the rules that users hold, whichever modes decide. */
  readonly rbac: RbacAuthorizer;
  /** Throws until the roles every cluster has are in place. */
  bootstrapped(): void;
}

export async function accessFor(core: Core, settings: ApiserverSettings): Promise<Access> {
  const rbac = rbacAuthorizer(rbacSource(core));
  const modes: Readonly<Record<string, () => Authorizer>> = {
    AlwaysAllow: () => alwaysAllow,
    AlwaysDeny: () => alwaysDeny,
    RBAC: () => rbac,
    ABAC: () => abacAuthorizer(settings.authorizationPolicyFile, core.options.dialect),
  };
  const authorizer = authorizerOf(settings.authorizationMode.map((mode) => modes[mode]!()));
  if (settings.authorizationMode.includes("RBAC")) await bootstrapRoles(core);
  return { authorizer, rbac, bootstrapped: () => undefined };
}
