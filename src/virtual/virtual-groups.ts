// All endpoints without stored objects, by group.
import type { AdmissionChain } from "#admission";
import type { AccessExplainer, Authorizer } from "#authz";
import type { ServerObjects } from "#registry";
import { bindingEndpoints } from "./bindings.ts";
import type { VirtualGroup } from "#endpoints";
import { componentStatuses } from "./component-statuses.ts";
import type { AgentOptions } from "./connect/agents.ts";
import { connectEndpoints } from "./connect/connections.ts";
import { evictionEndpoint } from "./eviction.ts";
import { type ReviewOptions, reviewGroups } from "./reviews.ts";
import { type TokenEndpointOptions, tokenEndpoints } from "./service-account-tokens.ts";
import type { VirtualContext } from "./review-request.ts";

export interface VirtualOptions {
  readonly admission: AdmissionChain;
  readonly authorizer: Authorizer;
  readonly explainer: AccessExplainer;
  readonly tokens: ReviewOptions["tokens"];
  readonly selfReviews: boolean;
  readonly release: number;
  /** Reduces declarations to the fields that the server has. */
  readonly reduced: ReviewOptions["reduced"];
  readonly issuing: TokenEndpointOptions;
  /** Connection options for node agents. */
  readonly agents: Omit<AgentOptions, "dialect" | "nodes">;
  /** Rejects if the store does not respond. */
  readonly storeHealth: () => Promise<unknown>;
  /** Aborted when the server stops, which ends proxied connections. */
  readonly stopping: AbortSignal;
}

export function virtualGroups(
  server: ServerObjects,
  {
    admission,
    authorizer,
    explainer,
    tokens,
    selfReviews,
    reduced,
    release,
    issuing,
    agents,
    storeHealth,
    stopping,
  }: VirtualOptions,
): readonly VirtualGroup[] {
  const context: VirtualContext = { dialect: server.dialect, clock: server.clock, admission };
  return [
    {
      group: "",
      branded: false,
      version: "v1",
      endpoints: [
        ...bindingEndpoints(server, context),
        componentStatuses({ dialect: context.dialect, store: storeHealth }),
        evictionEndpoint(server, context),
        ...tokenEndpoints(context, issuing),
        ...connectEndpoints(server, agents, admission, stopping),
      ],
    },
    ...reviewGroups(context, {
      authorizer,
      explainer,
      tokens,
      audiences: issuing.audiences,
      selfReviews,
      release,
      reduced,
    }),
  ];
}
