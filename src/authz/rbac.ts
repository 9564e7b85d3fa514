// Role-based access control. Bindings are indexed by subject, and each user's decisions are cached until any
// role or binding changes.
//
//   user ── name and groups ──> its bindings, cluster-wide and per namespace ──> their roles' rules ──> decision by (verb, resource)
//
// The index of a namespace is built on first use, so that a change costs nothing for unused namespaces.

import type { ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding, RoleRef, Subject } from "#api";
import { type User, serviceAccountName } from "#authn";
import { type Attributes, type Authorizer, type Decision, type KnownRules, noOpinion } from "./authorizer.ts";
import { type GrantIndex, grantIndex } from "./grant-index.ts";
import { ruleAllows } from "./rules.ts";

/** Returns the current roles and bindings. An object is immutable: the same object has the same content. */
export interface RbacSource {
  /** Returns a number that changes with every change of a role or binding. */
  version(): number;
  clusterRole(name: string): ClusterRole | undefined;
  role(namespace: string, name: string): Role | undefined;
  /** In order of name. */
  clusterRoleBindings(): Iterable<ClusterRoleBinding>;
  /** The bindings of one namespace, in order of name. */
  roleBindings(namespace: string): Iterable<RoleBinding>;
}

export interface RbacAuthorizer extends Authorizer {
  decide(attributes: Attributes): Decision;
  /** Returns all rules that apply to a user; missing roles are skipped. */
  policyRulesFor(user: User, namespace: string): PolicyRule[];
  /**
   * Returns the rules that a binding in `namespace` (or a cluster-wide one) would grant; undefined if the
   * role does not exist.
   */
  rulesOf(ref: RoleRef, namespace: string): readonly PolicyRule[] | undefined;
  /**
   * Returns a description of the binding that allows an action and the rule of its role; undefined if none
   * does.
   */
  grantOf(attributes: Attributes): { readonly binding: string; readonly rule: PolicyRule } | undefined;
}

interface Grant {
  readonly order: number;
  readonly binding: ClusterRoleBinding | RoleBinding;
  readonly subject: Subject;
}
type SubjectIndex = ReadonlyMap<string, readonly Grant[]>;

/** The cached state of one user: grants by namespace, and decisions by request. */
interface View {
  readonly grants: Map<string, readonly Grant[]>;
  readonly decisions: Map<string, Decision>;
  /** Rule indexes of scopes with many grants, built on the second request. */
  readonly rules: Map<string, "asked once" | ScopeRules>;
  /** Whether a rule has resource names, so that the name is part of the cache key. */
  readonly byName: Map<string, boolean>;
}

interface ScopeRules {
  /** Undefined where an index would be too large. */
  readonly index: GrantIndex | undefined;
  readonly missing: readonly string[];
}

/** Up to this many grants are evaluated one by one. */
const maxLinearGrants = 16;

/** Cache limits. When one is reached, the caches are cleared. */
const maxCachedUsers = 10_000;
const maxCachedDecisions = 100_000;
const maxCachedRules = 500_000;
/**
 * Maximum length of a cached key. Clients may request paths as long as a request can be; no legitimate key is
 * longer than this.
 */
const maxCachedKeyLength = 512;

export function rbacAuthorizer(source: RbacSource): RbacAuthorizer {
  let version = Number.NaN;
  let indexes = new Map<string, SubjectIndex>();
  let views = new Map<string, View>();
  let viewOf = new WeakMap<User, View>();
  let decisions = 0;
  let indexedRules = 0;

  const clearCaches = (): void => {
    views = new Map();
    viewOf = new WeakMap();
    decisions = 0;
    indexedRules = 0;
  };
  const refresh = (): void => {
    const now = source.version();
    if (now === version) return;
    version = now;
    indexes = new Map();
    clearCaches();
  };
  const viewFor = (user: User): View => {
    const known = viewOf.get(user);
    if (known) return known;
    if (views.size >= maxCachedUsers || decisions >= maxCachedDecisions) clearCaches();
    const key = JSON.stringify([user.name, user.groups]);
    let found = views.get(key);
    if (!found) views.set(key, (found = newView()));
    viewOf.set(user, found);
    return found;
  };
  const index = (namespace: string): SubjectIndex => {
    let found = indexes.get(namespace);
    if (!found) {
      found = indexOf(namespace ? source.roleBindings(namespace) : source.clusterRoleBindings(), namespace);
      // Indexes of namespaces without bindings are not cached: clients can name any number of them.
      if (found.size > 0) indexes.set(namespace, found);
    }
    return found;
  };
  /** Returns the grants within one scope; the empty namespace stands for the whole cluster. */
  const grantsIn = (user: User, view: View, namespace: string): readonly Grant[] => {
    let found = view.grants.get(namespace);
    if (!found) {
      const by = index(namespace);
      const all = [
        by.get(`u:${user.name}`) ?? [],
        ...user.groups.map((group) => by.get(`g:${group}`) ?? []),
      ].flat();
      // A binding that matches a user twice, by name and by group for example, counts once, by the first of
      // its subjects.
      const first = new Map<number, Grant>();
      for (const grant of all) {
        const before = first.get(grant.order);
        if (!before || position(grant) < position(before)) first.set(grant.order, grant);
      }
      found = [...first.values()].toSorted((a, b) => a.order - b.order);
      if (namespace.length <= maxCachedKeyLength) view.grants.set(namespace, found);
    }
    return found;
  };
  const grantsFor = (user: User, view: View, namespace: string): readonly Grant[] => {
    const everywhere = grantsIn(user, view, "");
    if (!namespace) return everywhere;
    const here = grantsIn(user, view, namespace);
    return here.length ? [...everywhere, ...here] : everywhere;
  };
  const rulesOf = (ref: RoleRef, namespace: string): readonly PolicyRule[] | undefined => {
    const role =
      ref.kind === "ClusterRole"
        ? source.clusterRole(ref.name)
        : ref.kind === "Role"
          ? source.role(namespace, ref.name)
          : undefined;
    return role && (role.rules ?? []);
  };
  const dependsOnName = (user: User, view: View, namespace: string): boolean => {
    let known = view.byName.get(namespace);
    if (known === undefined) {
      known = grantsFor(user, view, namespace).some(({ binding }) =>
        rulesOf(binding.roleRef, namespace)?.some((rule) => rule.resourceNames?.length),
      );
      if (namespace.length <= maxCachedKeyLength) view.byName.set(namespace, known);
    }
    return known;
  };
  /** Returns the rule index of a scope, built on its second use. */
  const scopeRules = (view: View, grants: readonly Grant[], scope: string): ScopeRules | undefined => {
    const known = view.rules.get(scope);
    if (known !== "asked once") {
      if (!known && scope.length <= maxCachedKeyLength) view.rules.set(scope, "asked once");
      return known;
    }
    const missing: string[] = [];
    const all = grants.map(({ binding }) => {
      const rules = rulesOf(binding.roleRef, scope);
      if (!rules) missing.push(missingRole(binding.roleRef));
      return rules ?? [];
    });
    const made = { index: grantIndex(all), missing };
    view.rules.set(scope, made);
    indexedRules += made.index?.size ?? 0;
    return made;
  };
  /** Returns the first grant within one scope that allows an action; otherwise records missing roles. */
  const firstGrant = (
    attributes: Attributes,
    view: View,
    scope: string,
    missing: string[],
  ): Grant | undefined => {
    const grants = grantsIn(attributes.user, view, scope);
    const known = grants.length > maxLinearGrants ? scopeRules(view, grants, scope) : undefined;
    if (known?.index) {
      const at = known.index.find(attributes);
      if (at !== undefined) return grants[at];
      missing.push(...known.missing);
      return undefined;
    }
    for (const grant of grants) {
      const rules = rulesOf(grant.binding.roleRef, scope);
      if (!rules) missing.push(missingRole(grant.binding.roleRef));
      else if (rules.some((rule) => ruleAllows(rule, attributes))) return grant;
    }
    return undefined;
  };
  const evaluate = (attributes: Attributes, view: View, namespace: string): Decision => {
    const missing: string[] = [];
    const grant =
      firstGrant(attributes, view, "", missing) ??
      (namespace ? firstGrant(attributes, view, namespace, missing) : undefined);
    if (grant) return { verdict: "allow", reason: `RBAC: allowed by ${describeGrant(grant)}` };
    if (!missing.length) return noOpinion;
    return {
      verdict: "no opinion",
      reason: `RBAC: ${joinFindings(missing)}`,
    };
  };

  return {
    decide: (attributes) => {
      refresh();
      const { user, verb, resource, path = "" } = attributes;
      const namespace = resource?.namespace ?? "";
      const view = viewFor(user);
      let key: string;
      // The lengths keep keys distinct whose parts contain the separator: clients choose these texts.
      if (resource) {
        const { group, subresource } = resource;
        key = `${verb.length} ${resource.resource.length} ${subresource.length} ${group.length} ${namespace.length} ${verb}${resource.resource}${subresource}${group}${namespace}`;
        if (resource.name && dependsOnName(user, view, namespace)) key += resource.name;
      } else key = `path ${verb.length} ${verb}${path}`;
      let decision = view.decisions.get(key);
      if (!decision) {
        decision = evaluate(attributes, view, namespace);
        if (key.length <= maxCachedKeyLength) view.decisions.set(key, decision);
        // The number of decisions of one user is limited, too: the number of views is only checked when a
        // user first appears.
        if (++decisions >= maxCachedDecisions || indexedRules >= maxCachedRules) clearCaches();
      }
      return decision;
    },
    policyRulesFor: (user, namespace) => {
      refresh();
      return grantsFor(user, viewFor(user), namespace).flatMap(
        ({ binding }) => rulesOf(binding.roleRef, namespace) ?? [],
      );
    },
    rulesOf,
    grantOf: (attributes) => {
      refresh();
      const { user } = attributes;
      const namespace = attributes.resource?.namespace ?? "";
      for (const grant of grantsFor(user, viewFor(user), namespace)) {
        const rule = rulesOf(grant.binding.roleRef, namespace)?.find((each) => ruleAllows(each, attributes));
        if (rule) return { binding: describeGrant(grant), rule };
      }
      return undefined;
    },
    rulesFor(user, namespace): KnownRules {
      const rules = this.policyRulesFor(user, namespace);
      return {
        resourceRules: rules
          .filter((rule) => rule.resources?.length)
          .map(({ verbs, apiGroups, resources, resourceNames }) => ({
            verbs,
            ...(apiGroups?.length && { apiGroups }),
            ...(resources?.length && { resources }),
            ...(resourceNames?.length && { resourceNames }),
          })),
        nonResourceRules: rules.flatMap(({ verbs, nonResourceURLs }) =>
          nonResourceURLs?.length ? [{ verbs, nonResourceURLs }] : [],
        ),
        incomplete: false,
        ...errorOf(
          grantsFor(user, viewFor(user), namespace).filter(
            ({ binding }) => !rulesOf(binding.roleRef, namespace),
          ),
        ),
      };
    },
  };
}

const newView = (): View => ({
  grants: new Map(),
  decisions: new Map(),
  rules: new Map(),
  byName: new Map(),
});

const missingRole = ({ apiGroup, kind, name }: RoleRef): string =>
  `${kind === "Role" ? "role" : "clusterrole"}.${apiGroup} ${JSON.stringify(name)} not found`;

/** Joins distinct errors into one text. */
function joinFindings(findings: readonly string[]): string {
  const different = [...new Set(findings)];
  return different.length === 1 ? different[0]! : `[${different.join(", ")}]`;
}

function errorOf(dangling: readonly Grant[]): { error?: string } {
  const names = dangling.map(({ binding }) => missingRole(binding.roleRef));
  return names.length ? { error: joinFindings(names) } : {};
}

function indexOf(bindings: Iterable<ClusterRoleBinding | RoleBinding>, namespace: string): SubjectIndex {
  const index = new Map<string, Grant[]>();
  let order = 0;
  for (const binding of bindings) {
    for (const subject of binding.subjects ?? []) {
      const key = subjectKey(subject, namespace);
      if (key === undefined) continue;
      const grants = index.get(key);
      if (grants) grants.push({ order, binding, subject });
      else index.set(key, [{ order, binding, subject }]);
    }
    order++;
  }
  return index;
}

function subjectKey(subject: Subject, namespace: string): string | undefined {
  switch (subject.kind) {
    case "User":
      return `u:${subject.name}`;
    case "Group":
      return `g:${subject.name}`;
    case "ServiceAccount": {
      const home = subject.namespace || namespace;
      return home ? `u:${serviceAccountName(home, subject.name)}` : undefined;
    }
    default:
      return undefined;
  }
}

const position = ({ binding, subject }: Grant): number => binding.subjects!.indexOf(subject);

function describeGrant({ binding, subject }: Grant): string {
  const { name, namespace } = binding.metadata;
  const { roleRef } = binding;
  const whose =
    subject.kind === "ServiceAccount"
      ? `${subject.name}/${subject.namespace || (namespace ?? "")}`
      : subject.name;
  const what = namespace
    ? `RoleBinding ${JSON.stringify(`${name}/${namespace}`)}`
    : `ClusterRoleBinding ${JSON.stringify(name)}`;
  return `${what} of ${roleRef.kind} ${JSON.stringify(roleRef.name)} to ${subject.kind} ${JSON.stringify(whose)}`;
}
