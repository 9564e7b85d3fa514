// Prevents privilege escalation: users may grant only permissions they hold, unless they have the verb
// `escalate` on the role or `bind` on the role being bound.

import { isDeepStrictEqual } from "node:util";
import type { ClusterRole, PolicyRule, Role, RoleRef } from "#api";
import { type User, mastersGroup } from "#authn";
import { type ApiError, TimeSlice, badRequest, forbidden, notFound } from "#base";
import type { Authorizer, ResourceTarget } from "./authorizer.ts";
import type { RbacAuthorizer } from "./rbac.ts";
import { compact, describeRule, notCoveredWhole, partsOf, uncovered, uncoveredParts } from "./rules.ts";

export interface EscalationOptions {
  /** The combination of all modes, which decides on these two verbs. */
  readonly authorizer: Authorizer;
  /** Returns the rules a user holds. */
  readonly rbac: RbacAuthorizer;
}

const everything: readonly PolicyRule[] = [
  { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
  { verbs: ["*"], nonResourceURLs: ["*"] },
];

/**
 * Checks the creation or update of a role; `target` is that of the request. Throws 403. Updates of ownership
 * fields only need no check.
 */
export async function checkRole(
  options: EscalationOptions,
  user: User,
  target: ResourceTarget,
  role: Role | ClusterRole,
  old?: Role | ClusterRole,
): Promise<void> {
  if (user.groups.includes(mastersGroup)) return;
  const escalation = await options.authorizer.decide({
    user,
    verb: "escalate",
    resource: { ...target, version: "*", subresource: "" },
  });
  if (escalation.verdict === "allow") return;
  const held = options.rbac.policyRulesFor(user, target.namespace);
  const name = role.metadata.name ?? "";
  await checkHeld(user, target, name, role.rules ?? [], held);
  if ((aggregates(role) || (old && aggregates(old))) && uncovered(everything, held).length) {
    throw forbidden(target, name, "must have cluster-admin privileges to use the aggregationRule");
  }
}

/**
 * Checks the creation or update of a binding; `target` is that of the request. Throws 403; 404 if the role to
 * be bound does not exist; 400 if such a role cannot exist.
 */
export async function checkBinding(
  options: EscalationOptions,
  user: User,
  target: ResourceTarget,
  binding: { readonly metadata: { readonly name?: string }; readonly roleRef: RoleRef },
): Promise<void> {
  if (user.groups.includes(mastersGroup)) return;
  const { roleRef } = binding;
  const resource = { Role: "roles", ClusterRole: "clusterroles" }[roleRef.kind];
  if (!resource) return; // Validation rejects it with a better message.
  const bound: ResourceTarget = {
    group: roleRef.apiGroup,
    version: "*",
    resource,
    subresource: "",
    namespace: target.namespace,
    name: roleRef.name,
  };
  const exception = await options.authorizer.decide({ user, verb: "bind", resource: bound });
  if (exception.verdict === "allow") return;
  if (resource === "roles" && !target.namespace) throw badRequest("Namespace parameter required.");
  if (!roleRef.name) throw badRequest("Name parameter required.");
  const rules = options.rbac.rulesOf(roleRef, target.namespace);
  if (!rules) throw notFound({ group: target.group, resource }, roleRef.name);
  await checkHeld(
    user,
    target,
    binding.metadata.name ?? "",
    rules,
    options.rbac.policyRulesFor(user, target.namespace),
  );
}

/**
 * Maximum number of rule parts to compare, more than any role written by people has. Rules covered whole by a
 * single rule of the user are not counted.
 */
const maxParts = 50_000;

/** Throws 403 if the rules exceed those held. */
async function checkHeld(
  user: User,
  target: ResourceTarget,
  name: string,
  rules: readonly PolicyRule[],
  held: readonly PolicyRule[],
): Promise<void> {
  const work = new TimeSlice();
  const doubtful: PolicyRule[] = [];
  for (const rule of notCoveredWhole(rules, held)) {
    if (rule) doubtful.push(rule);
    if (work.tick()) await work.yield();
  }
  const parts = partsOf(doubtful);
  if (parts > maxParts)
    throw forbidden(
      target,
      name,
      `the rules combine to ${parts} permissions, and no more than ${maxParts} can be compared with those that ${JSON.stringify(user.name)} holds`,
    );
  const missing: PolicyRule[] = [];
  for (const part of uncoveredParts(doubtful, held)) {
    if (part) missing.push(part);
    if (work.tick()) await work.yield();
  }
  if (missing.length) throw escalationError(user, target, name, missing);
}

/**
 * Reports whether an update changes only fields that garbage collection changes; such updates are not
 * checked.
 */
export function onlyOwnershipChanged(
  object: { readonly metadata: object },
  old: { readonly metadata: object },
): boolean {
  const bare = ({ metadata, ...rest }: { readonly metadata: object }): object => ({
    ...rest,
    metadata: { ...metadata, ownerReferences: 0, finalizers: 0, managedFields: 0, selfLink: 0 },
  });
  return isDeepStrictEqual(withoutEmpty(bare(object)), withoutEmpty(bare(old)));
}

/**
 * Removes empty values: empty lists and empty label maps equal absent ones, but an empty aggregation rule
 * does not.
 */
function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty);
  if (typeof value !== "object" || value === null) return value;
  const isNothing = (key: string, field: unknown): boolean =>
    field === undefined ||
    field === null ||
    (Array.isArray(field) && field.length === 0) ||
    (["labels", "annotations", "matchLabels"].includes(key) && Object.keys(field).length === 0);
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, field]) =>
      isNothing(key, field) ? [] : [[key, withoutEmpty(field)]],
    ),
  );
}

function escalationError(
  user: User,
  target: ResourceTarget,
  name: string,
  missing: readonly PolicyRule[],
): ApiError {
  const list = [...new Set(compact(missing).map(describeRule))].toSorted().join("\n");
  const groups = `[${user.groups.map((group) => JSON.stringify(group)).join(" ")}]`;
  return forbidden(
    target,
    name,
    `user ${JSON.stringify(user.name)} (groups=${groups}) is attempting to grant RBAC permissions not currently held:\n${list}`,
  );
}

const aggregates = (role: Role | ClusterRole): boolean =>
  "aggregationRule" in role && Boolean(role.aggregationRule?.clusterRoleSelectors?.length);
