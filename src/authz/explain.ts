// Explains decisions: the authorizer, binding and rule that decided, and the narrowest rules of existing
// roles that would allow the action. Roles are shown only to users who may list them.
import type { PolicyRule } from "#api";
import { type User, mastersGroup } from "#authn";
import { type Dialect, groupName } from "#dialect";
import { type Attributes, type Authorizer, privilegedGroups } from "./authorizer.ts";
import type { RbacAuthorizer } from "./rbac.ts";
import { describeRule, ruleAllows } from "./rules.ts";

/**
 * Set to true on a request, this header requests an explanation of a refusal, or one in the response of an
 * access review.
 */
export const explainHeader = "x-explain-access";
/** The annotation in the response of an access review with the explanation, as JSON. */
export const explanationAnnotation = "access-explanation";

export interface NamedAuthorizer {
  readonly name: string;
  readonly authorizer: Authorizer;
}

export interface RoleRules {
  /** The role, such as `ClusterRole view`. */
  readonly role: string;
  readonly rules: readonly PolicyRule[];
}

/** A rule of an existing role that would allow the action. */
export interface Suggestion {
  readonly role: string;
  readonly rule: PolicyRule;
}

export interface Explanation {
  /** The authorizer that decided, if any. */
  readonly decidedBy?: string;
  /** The binding that allows the action, and the rule of its role. */
  readonly binding?: string;
  readonly rule?: PolicyRule;
  /**
   * Rules that would allow the action, the narrowest first; absent if it is allowed, or if the requester may
   * not see roles.
   */
  readonly wouldAllow?: readonly Suggestion[];
}

export interface AccessExplainer {
  explain(attributes: Attributes, requester: User): Promise<Explanation>;
  /**
   * Returns what would have allowed a request, for the text of its refusal; empty if the user may not know.
   */
  refusal(attributes: Attributes): Promise<string>;
}

export interface ExplainOptions {
  /** In the order of evaluation. */
  readonly authorizers: () => readonly NamedAuthorizer[];
  /** The combination of all of them. */
  readonly authorizer: Authorizer;
  readonly rbac: RbacAuthorizer;
  /** Returns the roles that a binding in the namespace can refer to; cluster roles for an empty namespace. */
  readonly roles: (namespace: string) => Iterable<RoleRules>;
  readonly dialect: Dialect;
}

export function accessExplainer(options: ExplainOptions): AccessExplainer {
  const { authorizers, authorizer, rbac, roles, dialect } = options;
  const masters: NamedAuthorizer = { name: mastersGroup, authorizer: privilegedGroups() };
  const may = async (user: User, verb: string, resource: string, namespace: string): Promise<boolean> => {
    const base = resource.endsWith("reviews") ? "authorization" : "rbac.authorization";
    const group = groupName(dialect, { group: base, branded: true });
    const target = { group, version: "v1", resource, subresource: "", namespace, name: "" };
    return (await authorizer.decide({ user, verb, resource: target })).verdict === "allow";
  };
  const maySeeRoles = async (user: User, namespace: string): Promise<boolean> =>
    (await may(user, "list", "clusterroles", "")) &&
    (namespace === "" || (await may(user, "list", "roles", namespace)));
  const suggestions = (attributes: Attributes): readonly Suggestion[] =>
    narrowestRules(roles(attributes.resource?.namespace ?? ""), attributes);

  const explain = async (attributes: Attributes, requester: User): Promise<Explanation> => {
    const seesRoles = await maySeeRoles(requester, attributes.resource?.namespace ?? "");
    for (const { name, authorizer: each } of [masters, ...authorizers()]) {
      const { verdict } = await each.decide(attributes);
      if (verdict === "allow") {
        const grant = each === rbac ? rbac.grantOf(attributes) : undefined;
        return {
          decidedBy: name,
          ...(grant && { binding: grant.binding, ...(seesRoles && { rule: grant.rule }) }),
        };
      }
      // A denial is final, regardless of roles.
      if (verdict === "deny") return { decidedBy: name };
    }
    return seesRoles ? { wouldAllow: suggestions(attributes) } : {};
  };
  return {
    explain,
    refusal: async (attributes) => {
      const { user } = attributes;
      if (!(await may(user, "create", "subjectaccessreviews", ""))) return "";
      const { decidedBy, wouldAllow } = await explain(attributes, user);
      if (decidedBy !== undefined) return `denied by the authorizer ${decidedBy}`;
      const [narrowest] = wouldAllow ?? [];
      if (narrowest) return `the rule ${describeRule(narrowest.rule)} of ${narrowest.role} would allow it`;
      return wouldAllow ? "no rule of an existing role would allow it" : "";
    },
  };
}

const maxSuggestions = 3;

/** Returns the rules that allow the action, the narrowest first. */
export function narrowestRules(roles: Iterable<RoleRules>, attributes: Attributes): readonly Suggestion[] {
  const found: Suggestion[] = [];
  for (const { role, rules } of roles)
    for (const rule of rules) if (ruleAllows(rule, attributes)) found.push({ role, rule });
  return found.toSorted((a, b) => breadth(a.rule) - breadth(b.rule)).slice(0, maxSuggestions);
}

const everything = 1000;

/** Estimates how much a rule allows; a wildcard counts more than any list. */
function breadth({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): number {
  const of = (list: readonly string[] | null | undefined, otherwise: number): number =>
    !list?.length ? otherwise : list.some((each) => each.includes("*")) ? everything : list.length;
  return of(verbs, 1) * of(apiGroups, 1) * of(resources, 1) * of(nonResourceURLs, 1) * of(resourceNames, 100);
}
