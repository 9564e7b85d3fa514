// Who may do what: the authorizers in the order the operator gave.
import type { ServerObjects } from "#registry";
import {
  type Authorizer,
  type RbacAuthorizer,
  abacAuthorizer,
  alwaysAllow,
  alwaysDeny,
  authorizerOf,
  nodeAuthorizer,
  nodeRules,
  rbacAuthorizer,
} from "#authz";
import { selector } from "#base";
import { rbacSource } from "./rbac-source.ts";
import type { ApiserverSettings } from "../options/settings.ts";

export interface Authorizers {
  readonly authorizer: Authorizer;
  /** Knows the rules that users hold, whichever modes decide. */
  readonly rbac: RbacAuthorizer;
}

export function authorizersFor(server: ServerObjects, settings: ApiserverSettings): Authorizers {
  const rbac = rbacAuthorizer(rbacSource(server.resources));
  const modes: Readonly<Record<string, () => Authorizer>> = {
    AlwaysAllow: () => alwaysAllow,
    AlwaysDeny: () => alwaysDeny,
    RBAC: () => rbac,
    Node: () => nodeMode(server),
    ABAC: () => abacAuthorizer(settings.authorizationPolicyFile, server.dialect),
  };
  const authorizer = authorizerOf(settings.authorizationMode.map((mode) => modes[mode]!()));
  return { authorizer, rbac };
}

function nodeMode(server: ServerObjects): Authorizer {
  const { dialect, resources } = server;
  return nodeAuthorizer({
    dialect,
    rules: nodeRules(dialect),
    podsOn: (node) =>
      resources.pods.list("", selector([], [{ key: "spec.nodeName", operator: "in", values: [node] }])),
    volume: (name) => resources.persistentVolumes.get(name),
    volumes: () => resources.persistentVolumes.list(),
    attachment: (name) => resources.volumeAttachments.get(name),
  });
}
