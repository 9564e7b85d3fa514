// Every endpoint that is not plain reading and writing, in its group.
import { type AdmissionPlugin, admissionChain } from "#admission";
import type { Authorizer } from "#authz";
import { bindingEndpoints } from "./bindings.ts";
import type { SpecialGroup } from "./catalog.ts";
import { evictionEndpoint } from "./eviction.ts";
import type { Identities } from "./identity.ts";
import { reviewGroups } from "./reviews.ts";
import type { Core } from "./server.ts";
import { tokenEndpoints } from "./service-account-tokens.ts";
import type { ApiserverSettings } from "./settings-of.ts";
import type { SpecialContext } from "./special.ts";

export interface SpecialsOptions {
  readonly plugins: readonly AdmissionPlugin[];
  readonly authorizer: Authorizer;
  readonly identities: Identities;
  readonly settings: ApiserverSettings;
}

export function specialGroups(core: Core, { plugins, authorizer, identities, settings }: SpecialsOptions): readonly SpecialGroup[] {
  const context: SpecialContext = { dialect: core.options.dialect, clock: core.clock, admission: admissionChain(plugins) };
  const tokens = tokenEndpoints(context, {
    identities,
    maximumSeconds: settings.serviceAccountMaxTokenExpiration / 1000,
    extend: settings.serviceAccountExtendTokenExpiration,
  });
  return [
    { group: "", branded: false, version: "v1", endpoints: [...bindingEndpoints(core, context), evictionEndpoint(core, context), ...tokens] },
    ...reviewGroups(context, { authorizer, identities }),
  ];
}
