// Authorization: the authorizers in the order configured by the operator.
import { readFileSync } from "node:fs";
import type { ServerObjects } from "#registry";
import {
  type AccessExplainer,
  type Authorizer,
  type NamedAuthorizer,
  type RbacAuthorizer,
  type RoleRules,
  accessExplainer,
  alwaysAllow,
  alwaysDeny,
  authorizerOf,
  nodeAuthorizer,
  type GateCheck,
  nodeRules,
  parseAbac,
  rbacAuthorizer,
  webhookAuthorizer,
  withDenialLog,
} from "#authz";
import { webhook, webhookConnection } from "#client";
import { type Dialect, componentName } from "#dialect";
import { type Log, selector } from "#base";
import type { Dial } from "#http";
import type { Reloads } from "../serving/reloads.ts";
import { type ChainedAuthorizers, configuredAuthorizer } from "./configured.ts";
import { rbacSource } from "./rbac-source.ts";
import type { ApiserverSettings } from "../options/settings.ts";

export interface Authorizers {
  readonly authorizer: Authorizer;
  /** Evaluates RBAC rules, whichever authorization modes are enabled. */
  readonly rbac: RbacAuthorizer;
  readonly explainer: AccessExplainer;
}

/** How webhooks are reached, and when their connections are closed. */
export interface OutboundOptions {
  readonly dial: Dial | undefined;
  /** Dials servers inside the cluster; they are reached directly if absent. */
  readonly cluster: Dial | undefined;
  readonly signal: AbortSignal;
}

/** Builds the authorizers; `enabled` reports whether a feature gate is on. */
export function authorizersFor(
  server: ServerObjects,
  settings: ApiserverSettings,
  { enabled, reloads, log }: { readonly enabled: GateCheck; readonly reloads: Reloads; readonly log: Log },
  outbound: OutboundOptions,
): Authorizers {
  const rbac = withDenialLog(rbacAuthorizer(rbacSource(server.resources)), log);
  const modes: Readonly<Record<string, () => Authorizer>> = {
    AlwaysAllow: () => alwaysAllow,
    AlwaysDeny: () => alwaysDeny,
    RBAC: () => rbac,
    Node: () => nodeMode(server, enabled),
    Webhook: () => webhookMode(server, settings, outbound),
    ABAC: () => abacMode(settings.authorizationPolicyFile, server.dialect, reloads),
  };
  const make = (mode: string): Authorizer => modes[mode]!();
  const { authorizer, authorizers } = settings.authorizationConfig
    ? configuredAuthorizer(server, { settings, outbound, reloads, make })
    : chained(settings.authorizationMode.map((mode) => ({ name: mode, authorizer: make(mode) })));
  const explainer = accessExplainer({
    authorizers,
    authorizer,
    rbac,
    roles: (namespace) => rolesIn(server.resources, namespace),
    dialect: server.dialect,
  });
  return { authorizer, rbac, explainer };
}

const chained = (named: readonly NamedAuthorizer[]): ChainedAuthorizers => ({
  authorizer: authorizerOf(named.map(({ authorizer }) => authorizer)),
  authorizers: () => named,
});

function* rolesIn(
  { clusterRoles, roles }: ServerObjects["resources"],
  namespace: string,
): Iterable<RoleRules> {
  for (const { metadata, rules } of clusterRoles.listCached(""))
    yield { role: `ClusterRole ${metadata.name}`, rules: rules ?? [] };
  if (namespace !== "")
    for (const { metadata, rules } of roles.listCached(`${namespace}/`))
      yield { role: `Role ${metadata.name}`, rules: rules ?? [] };
}

function abacMode(file: string, dialect: Dialect, reloads: Reloads): Authorizer {
  const current = reloads.watchFile(
    "--authorization-policy-file",
    file,
    (text) => parseAbac(text, file, dialect),
    readFileSync(file, "utf8"),
  );
  return {
    decide: (attributes) => current().decide(attributes),
    rulesFor: (user, namespace) => current().rulesFor(user, namespace),
  };
}

function nodeMode(server: ServerObjects, enabled: GateCheck): Authorizer {
  const { dialect, resources } = server;
  return nodeAuthorizer({
    dialect,
    rules: nodeRules(dialect, enabled),
    ownOnly: enabled("AuthorizeNodeWithSelectors"),
    podsOn: (node) =>
      resources.pods.list("", selector([], [{ key: "spec.nodeName", operator: "in", values: [node] }])),
    volume: (name) => resources.persistentVolumes.get(name),
    volumes: () => resources.persistentVolumes.list(),
    attachment: (name) => resources.volumeAttachments.get(name),
  });
}

function webhookMode(
  server: ServerObjects,
  settings: ApiserverSettings,
  { dial, signal }: OutboundOptions,
): Authorizer {
  const { dialect, clock, onError } = server;
  const hook = webhook({
    needsBody: true,
    connection: webhookConnection(settings.authorizationWebhookConfigFile),
    clock,
    userAgent: componentName(dialect, "apiserver"),
    deadlineMilliseconds: settings.requestTimeout,
    dial,
  });
  signal.addEventListener("abort", () => hook.close(), { once: true });
  return webhookAuthorizer({
    webhook: hook,
    version: settings.authorizationWebhookVersion,
    dialect,
    clock,
    authorizedMilliseconds: settings.authorizationWebhookCacheAuthorizedTtl,
    unauthorizedMilliseconds: settings.authorizationWebhookCacheUnauthorizedTtl,
    onError: (error) => onError("the authorization webhook could not be called", { error: error.message }),
  });
}
