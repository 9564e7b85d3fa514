// The authorizers of --authorization-config, followed while the server runs.
import { readFileSync } from "node:fs";
import {
  type Authorizer,
  type NamedAuthorizer,
  type WebhookSettings,
  authorizerOf,
  webhookAuthorizer,
} from "#authz";
import { type Webhook, webhook, webhookConnection } from "#client";
import { componentName } from "#dialect";
import type { ServerObjects } from "#registry";
import type { ApiserverSettings } from "../options/settings.ts";
import type { Reloads } from "../serving/reloads.ts";
import type { OutboundOptions } from "./authorizers.ts";
import { readAuthorizers } from "./modes.ts";

/** How long webhook connections of a replaced configuration stay open for requests in flight. */
const lingerMilliseconds = 60_000;

export interface ConfiguredOptions {
  readonly settings: ApiserverSettings;
  readonly outbound: OutboundOptions;
  readonly reloads: Reloads;
  /** Creates the authorizer of a mode other than Webhook. */
  readonly make: (mode: string) => Authorizer;
}

/** A chain of authorizers, as one authorizer and individually. */
export interface ChainedAuthorizers {
  readonly authorizer: Authorizer;
  /** Returns the authorizers of the current configuration. */
  readonly authorizers: () => readonly NamedAuthorizer[];
}

export function configuredAuthorizer(server: ServerObjects, options: ConfiguredOptions): ChainedAuthorizers {
  const { settings, outbound, reloads, make } = options;
  const { clock, dialect } = server;
  const file = settings.authorizationConfig;
  /** Authorizers other than webhooks; created once and kept as long as the server runs. */
  let initialAuthorizers: ReadonlyMap<string, Authorizer> | undefined;
  let open: readonly Webhook[] = [];
  outbound.signal.addEventListener("abort", () => open.forEach((each) => each.close()), { once: true });

  const read = (text: string): { combined: Authorizer; named: readonly NamedAuthorizer[] } => {
    const configured = readAuthorizers(text, settings, dialect);
    const types = configured.flatMap(({ type, webhook: webhookSettings }) => (webhookSettings ? [] : type));
    if (initialAuthorizers) checkTypes(types, initialAuthorizers);
    const connections = configured.map(
      ({ webhook: webhookSettings }) =>
        webhookSettings && webhookConnection(webhookSettings.clientConfigFile),
    );
    const authorizersByType = (initialAuthorizers ??= new Map(types.map((type) => [type, make(type)])));
    const replaced = open;
    const opened: Webhook[] = [];
    const named = configured.map(({ type, name, webhook: webhookSettings }, at): NamedAuthorizer => {
      if (!webhookSettings) return { name, authorizer: authorizersByType.get(type)! };
      const hook = webhook({
        needsBody: true,
        connection: connections[at]!,
        clock,
        userAgent: componentName(dialect, "apiserver"),
        deadlineMilliseconds: settings.requestTimeout,
        timeoutMilliseconds: webhookSettings.timeoutMilliseconds,
        dial: outbound.dial,
      });
      opened.push(hook);
      return { name, authorizer: webhookOf(server, name, hook, webhookSettings) };
    });
    open = opened;
    if (replaced.length > 0) clock.after(lingerMilliseconds, () => replaced.forEach((each) => each.close()));
    return { combined: authorizerOf(named.map(({ authorizer }) => authorizer)), named };
  };
  const current = reloads.watchFile("--authorization-config", file, read, readFileSync(file, "utf8"));
  return {
    authorizer: {
      decide: (attributes) => current().combined.decide(attributes),
      rulesFor: (user, namespace) => current().combined.rulesFor(user, namespace),
    },
    authorizers: () => current().named,
  };
}

/**
 * Requires the authorizer types of the initial configuration: other components depend on them, for example
 * whether anonymous requests are accepted.
 */
function checkTypes(types: readonly string[], initial: ReadonlyMap<string, Authorizer>): void {
  const added = types.find((type) => !initial.has(type));
  if (added !== undefined)
    throw new Error(
      `authorizer type ${added} is not allowed if it was not enabled at initial server startup`,
    );
  const missing = [...initial.keys()].filter((type) => !types.includes(type)).toSorted();
  if (missing.length > 0) throw new Error(`missing required types: [${missing.join(" ")}]`);
}

function webhookOf(
  server: ServerObjects,
  name: string,
  hook: Webhook,
  settings: WebhookSettings,
): Authorizer {
  const { dialect, clock, onError } = server;
  return webhookAuthorizer({
    webhook: hook,
    version: settings.version,
    dialect,
    clock,
    authorizedMilliseconds: settings.authorizedMilliseconds,
    unauthorizedMilliseconds: settings.unauthorizedMilliseconds,
    failurePolicy: settings.failurePolicy,
    matches: settings.matches,
    onError: (error) =>
      onError("the authorization webhook could not be called", { authorizer: name, error: error.message }),
  });
}
