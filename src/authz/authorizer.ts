// The Authorizer interface. Authorizers are called in order; the first to allow or deny decides, and without
// a decision the action is forbidden.

import type { NonResourceRule, ResourceRule } from "#api";
import { type ApiError, type Requirement, forbidden } from "#base";
import { type User, mastersGroup } from "#authn";

/** The target of an action on a resource. Fields that do not apply are empty. */
export interface ResourceTarget {
  /** The API group as in requests, including the dialect's suffix. */
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
}

/** The selectors of a list, watch or deletion of many objects. They can only narrow the action. */
export interface Selectors {
  readonly fields: readonly Requirement[];
  readonly labels: readonly Requirement[];
}

/** The user and the action, either on a resource or on a non-resource path. */
export interface Attributes {
  readonly user: User;
  readonly verb: string;
  readonly resource?: ResourceTarget | undefined;
  readonly path?: string | undefined;
  /** Absent without selectors, and if authorizers do not consider them. */
  readonly selectors?: Selectors | undefined;
}

export interface Decision {
  readonly verdict: "allow" | "deny" | "no opinion";
  readonly reason: string;
  /** An error that occurred during the evaluation. */
  readonly error?: string;
  /**
   * An error that prevented an authorizer from deciding; the request fails unless another authorizer allows
   * it.
   */
  readonly internalError?: string;
}

/** The actions a user may perform in a namespace. */
export interface KnownRules {
  readonly resourceRules: readonly ResourceRule[];
  readonly nonResourceRules: readonly NonResourceRule[];
  /** Whether there may be further rules. */
  readonly incomplete: boolean;
  readonly error?: string;
}

export interface Authorizer {
  /** Decides synchronously where possible, as most decisions can be. */
  decide(attributes: Attributes): Decision | Promise<Decision>;
  rulesFor(user: User, namespace: string): KnownRules;
}

export const noOpinion: Decision = { verdict: "no opinion", reason: "" };
const allowed: Decision = { verdict: "allow", reason: "" };
const noRules: KnownRules = { resourceRules: [], nonResourceRules: [], incomplete: false };

export const alwaysAllow: Authorizer = {
  decide: () => allowed,
  rulesFor: () => ({
    resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }],
    nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
    incomplete: false,
  }),
};

const everythingForbidden: Decision = { verdict: "no opinion", reason: "Everything is forbidden." };
export const alwaysDeny: Authorizer = { decide: () => everythingForbidden, rulesFor: () => noRules };

/** Allows everything to members of these groups. */
export const privilegedGroups = (groups: readonly string[] = [mastersGroup]): Authorizer => ({
  decide: ({ user }) => (user.groups.some((group) => groups.includes(group)) ? allowed : noOpinion),
  rulesFor: () => noRules,
});

/**
 * Allows these paths to everyone, as health checks need; a trailing * is a wildcard. Throws for a *
 * elsewhere.
 */
export function alwaysAllowPaths(paths: readonly string[]): Authorizer {
  const patterns = paths.map((path) => path.replace(/^\//, ""));
  const wrong = patterns.find((pattern) => pattern.slice(0, -1).includes("*"));
  if (wrong !== undefined) throw new Error(`only trailing * allowed in ${JSON.stringify(wrong)}`);
  const exact = new Set(patterns.filter((pattern) => !pattern.endsWith("*")));
  const prefixes = patterns.filter((pattern) => pattern.endsWith("*")).map((pattern) => pattern.slice(0, -1));
  return {
    decide: ({ resource, path = "" }) => {
      const bare = path.replace(/^\//, "");
      return !resource && (exact.has(bare) || prefixes.some((prefix) => bare.startsWith(prefix)))
        ? allowed
        : noOpinion;
    },
    rulesFor: () => noRules,
  };
}

/** Calls authorizers in order, the one for the privileged group first. */
export function authorizerOf(modes: readonly Authorizer[]): Authorizer {
  const all = [privilegedGroups(), ...modes];
  const settle = async (
    attributes: Attributes,
    from: number,
    first: Promise<Decision>,
    before: readonly Decision[],
  ): Promise<Decision> => {
    const seen = [...before];
    let decision: Decision | Promise<Decision> = first;
    for (let i = from; ;) {
      const settled: Decision = await decision;
      if (settled.verdict !== "no opinion") return settled;
      seen.push(settled);
      i++;
      if (i === all.length) return combined(seen);
      decision = all[i]!.decide(attributes);
    }
  };
  return {
    decide: (attributes) => {
      const seen: Decision[] = [];
      for (let i = 0; i < all.length; i++) {
        const decision = all[i]!.decide(attributes);
        if (decision instanceof Promise) return settle(attributes, i, decision, seen);
        if (decision.verdict !== "no opinion") return decision;
        if (decision !== noOpinion) seen.push(decision);
      }
      return combined(seen);
    },
    rulesFor: (user, namespace) => {
      const rules = modes.map((mode) => mode.rulesFor(user, namespace));
      const errors = rules.flatMap(({ error }) => error ?? []);
      return {
        resourceRules: rules.flatMap(({ resourceRules }) => resourceRules),
        nonResourceRules: rules.flatMap(({ nonResourceRules }) => nonResourceRules),
        incomplete: rules.some(({ incomplete }) => incomplete),
        ...(errors.length && { error: errors.join(", ") }),
      };
    },
  };
}

function combined(decisions: readonly Decision[]): Decision {
  if (decisions.length === 0) return noOpinion;
  if (decisions.length === 1) return decisions[0]!;
  const errors = decisions.flatMap(({ error }) => error ?? []);
  const reason = decisions
    .map((decision) => decision.reason)
    .filter((text) => text !== "")
    .join("\n");
  const internal = decisions.flatMap(({ internalError }) => internalError ?? []);
  return {
    verdict: "no opinion",
    reason,
    ...(errors.length && { error: errors.join(", ") }),
    ...(internal.length && { internalError: internal.join(", ") }),
  };
}

const markup: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };
/** Escapes text chosen by a client, so that no browser interprets it as HTML. */
export const escapeMarkup = (text: string): string =>
  text.replace(/[&<>]/g, (character) => markup[character]!);

/** Returns the 403 error for an action that was not allowed. */
export function forbiddenError(attributes: Attributes, reason: string): ApiError {
  const { resource } = attributes;
  const message = escapeMarkup(describe(attributes));
  return forbidden(
    { group: resource?.group ?? "", resource: resource?.resource ?? "" },
    resource?.name ?? "",
    reason ? `${message}: ${reason}` : message,
  );
}

/**
 * Describes a forbidden action: `User "bob" cannot list resource "pods" in API group "" at the cluster
 * scope`.
 */
export function describe({ user, verb, resource, path = "" }: Attributes): string {
  const name = JSON.stringify(user.name);
  if (!resource) return `User ${name} cannot ${verb} path ${JSON.stringify(path)}`;
  const what = resource.subresource ? `${resource.resource}/${resource.subresource}` : resource.resource;
  const where = resource.namespace
    ? `in the namespace ${JSON.stringify(resource.namespace)}`
    : "at the cluster scope";
  return `User ${name} cannot ${verb} resource ${JSON.stringify(what)} in API group ${JSON.stringify(resource.group)} ${where}`;
}
