// Who may do what: the authorizers in the order the operator gave.
import type { PersistentVolume, Pod, VolumeAttachment } from "#api";
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
import { objectsOf } from "./objects.ts";
import { rbacSource } from "./rbac-source.ts";
import type { Core } from "./server.ts";
import type { ApiserverSettings } from "./settings-of.ts";

export interface Access {
  readonly authorizer: Authorizer;
  /** Knows the rules that users hold, whichever modes decide. */
  readonly rbac: RbacAuthorizer;
}

export function accessFor(core: Core, settings: ApiserverSettings): Access {
  const rbac = rbacAuthorizer(rbacSource(core));
  const modes: Readonly<Record<string, () => Authorizer>> = {
    AlwaysAllow: () => alwaysAllow,
    AlwaysDeny: () => alwaysDeny,
    RBAC: () => rbac,
    Node: () => nodeMode(core),
    ABAC: () => abacAuthorizer(settings.authorizationPolicyFile, core.options.dialect),
  };
  const authorizer = authorizerOf(settings.authorizationMode.map((mode) => modes[mode]!()));
  return { authorizer, rbac };
}

function nodeMode(core: Core): Authorizer {
  const { dialect } = core.options;
  const objects = objectsOf(core);
  return nodeAuthorizer({
    dialect,
    rules: nodeRules(dialect),
    podsOn: (node) =>
      objects.all<Pod>("/pods", "", selector([], [{ key: "spec.nodeName", operator: "in", values: [node] }])),
    volume: (name) => objects.find<PersistentVolume>("/persistentvolumes", name),
    volumes: () => objects.all<PersistentVolume>("/persistentvolumes"),
    attachment: (name) => objects.find<VolumeAttachment>("storage/volumeattachments", name),
  });
}
