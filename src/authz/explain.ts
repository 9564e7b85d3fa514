// Why something is allowed or not: the authorizer, binding and rule that decided, and the narrowest rules of
// existing roles that would allow it. Roles are shown only to those who may list them.
import type { PolicyRule } from "#api";
import { type User, mastersGroup } from "#authn";
import { type Dialect, groupName } from "#dialect";
import { type Attributes, type Authorizer, privilegedGroups } from "./authorizer.ts";
import type { RbacAuthorizer } from "./rbac.ts";
import { describeRule, ruleAllows } from "./rules.ts";

/** Set to true on a request, asks for an explanation of its refusal, or in the answer of an access review. */
export const explainHeader = "x-explain-access";
/** The annotation of an access review's answer that holds the explanation, as JSON. */
export const explanationAnnotation = "access-explanation";

export interface NamedAuthorizer {
  readonly name: string;
  readonly authorizer: Authorizer;
}

export interface RoleRules {
  /** Such as `ClusterRole view`. */
  readonly role: string;
  readonly rules: readonly PolicyRule[];
}

/** A rule of an existing role. */
export interface Suggestion {
  readonly role: string;
  readonly rule: PolicyRule;
}

export interface Explanation {
  /** The authorizer that decided; absent where none did. */
  readonly decidedBy?: string;
  /** The binding that allows it, and the rule of its role. */
  readonly binding?: string;
  readonly rule?: PolicyRule;
  /** What would allow it, the narrowest first; absent where it is allowed, and where the asker may not see roles. */
  readonly wouldAllow?: readonly Suggestion[];
}

export interface AccessExplainer {
  explain(attributes: Attributes, asker: User): Promise<Explanation>;
  /** What would have allowed a request, for the text of its refusal; empty for those who may not know. */
  refusal(attributes: Attributes): Promise<string>;
}

export interface ExplainOptions {
  /** In the order in which they are asked. */
  readonly authorizers: () => readonly NamedAuthorizer[];
  /** All of them together. */
  readonly authorizer: Authorizer;
  readonly rbac: RbacAuthorizer;
  /** The roles that a binding could name in the namespace; those of the cluster for none. */
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

  const explain = async (attributes: Attributes, asker: User): Promise<Explanation> => {
    const seesRoles = await maySeeRoles(asker, attributes.resource?.namespace ?? "");
    for (const { name, authorizer: each } of [masters, ...authorizers()]) {
      const { verdict } = await each.decide(attributes);
      if (verdict === "allow") {
        const grant = each === rbac ? rbac.grantOf(attributes) : undefined;
        return {
          decidedBy: name,
          ...(grant && { binding: grant.binding, ...(seesRoles && { rule: grant.rule }) }),
        };
      }
      // Whoever denies for good does so whatever roles say.
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

const mostRules = 3;

/** Those that allow the action, the narrowest first. */
export function narrowestRules(roles: Iterable<RoleRules>, attributes: Attributes): readonly Suggestion[] {
  const found: Suggestion[] = [];
  for (const { role, rules } of roles)
    for (const rule of rules) if (ruleAllows(rule, attributes)) found.push({ role, rule });
  return found.toSorted((a, b) => breadth(a.rule) - breadth(b.rule)).slice(0, mostRules);
}

const everything = 1000;

/** How much a rule allows, roughly: a wildcard is more than any list. */
function breadth({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): number {
  const of = (list: readonly string[] | null | undefined, otherwise: number): number =>
    !list?.length ? otherwise : list.some((each) => each.includes("*")) ? everything : list.length;
  return of(verbs, 1) * of(apiGroups, 1) * of(resources, 1) * of(nonResourceURLs, 1) * of(resourceNames, 100);
}
