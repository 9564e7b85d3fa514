// Every endpoint that is not plain reading and writing, in its group.
import { type AdmissionPlugin, admissionChain } from "#admission";
import type { Authorizer } from "#authz";
import { bindingEndpoints } from "./bindings.ts";
import type { VirtualGroup } from "./catalog.ts";
import { componentStatuses } from "./component-statuses.ts";
import { connectEndpoints } from "./connect/connections.ts";
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
  /** Aborted when the server stops: connections that are passed on end. */
  readonly stopping: AbortSignal;
}

export function virtualGroups(
  core: Core,
  { plugins, authorizer, identities, settings, stopping }: SpecialsOptions,
): readonly VirtualGroup[] {
  const context: SpecialContext = {
    dialect: core.options.dialect,
    clock: core.clock,
    admission: admissionChain(plugins),
  };
  const tokens = tokenEndpoints(context, {
    identities,
    maximumSeconds: settings.serviceAccountMaxTokenExpiration / 1000,
    extend: settings.serviceAccountExtendTokenExpiration,
  });
  return [
    {
      group: "",
      branded: false,
      version: "v1",
      endpoints: [
        ...bindingEndpoints(core, context),
        componentStatuses({
          dialect: context.dialect,
          store: () => core.options.store.read({ prefix: core.options.storePrefix, limit: 1 }),
        }),
        evictionEndpoint(core, context),
        ...tokens,
        ...connectEndpoints(core, settings, context.admission, stopping),
      ],
    },
    ...reviewGroups(context, { authorizer, identities }),
  ];
}
