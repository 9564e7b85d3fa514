// Who may do what: the authorizers in the order the operator gave.
import type { Authorizer } from "#authz";
import type { SpecialGroup } from "./catalog.ts";
import type { Core } from "./server.ts";
import type { ApiserverSettings } from "./settings-of.ts";

export interface Access {
  readonly authorizer: Authorizer;
  readonly specials: readonly SpecialGroup[];
  /** Throws until the roles every cluster has are in place. */
  bootstrapped(): void;
  stop(): void;
}

export async function authorizerFor(_core: Core, _settings: ApiserverSettings): Promise<Access> {
  return { authorizer: { decide: async () => ({ verdict: "allow", reason: "" }) } as unknown as Authorizer, specials: [], bootstrapped: () => undefined, stop: () => undefined };
}
