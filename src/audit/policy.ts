// The audit policy: what is recorded of which request. The first rule that matches decides.
import { AuditPolicyFile, type AuditPolicyRule, configObject } from "#api";
import type { Dialect } from "#dialect";
import { type AuditLevel, type Stage, levels, stages } from "./event.ts";

/** A request as policies see it. */
export interface PolicyRequest {
  readonly user?: { readonly name: string; readonly groups: readonly string[] } | undefined;
  readonly verb: string;
  /** The path of a request that is not about a resource. */
  readonly path: string;
  readonly resource?:
    | {
        readonly group: string;
        readonly resource: string;
        readonly subresource: string;
        readonly namespace: string;
        readonly name: string;
      }
    | undefined;
}

export interface AuditConfig {
  readonly level: AuditLevel;
  readonly omitStages: ReadonlySet<Stage>;
  readonly omitManagedFields: boolean;
}

export interface AuditPolicy {
  configFor(request: PolicyRequest): AuditConfig;
  /** Fields of the file that mean nothing. */
  readonly warnings: readonly string[];
}

/** Reads a policy file. Throws naming the file and every field that is wrong. */
export function parsePolicy(text: string, file: string, dialect: Dialect): AuditPolicy {
  const { value, warnings } = configObject(text, file, [AuditPolicyFile], dialect);
  const rules = value.rules ?? [];
  if (rules.length === 0) throw new Error(`${file}: rules: the policy has no rules`);
  const problems = [
    ...stageProblems(value.omitStages ?? [], "omitStages"),
    ...rules.flatMap((rule, at) => ruleProblems(rule, `rules[${at}]`)),
  ];
  if (problems.length > 0) throw new Error(`${file}: ${problems.join("; ")}`);
  const matchers = rules.map(
    (rule): { matches: (request: PolicyRequest) => boolean; config: AuditConfig } => ({
      matches: matcher(rule),
      config: {
        level: rule.level as AuditLevel,
        omitStages: new Set([...(value.omitStages ?? []), ...(rule.omitStages ?? [])] as Stage[]),
        omitManagedFields: rule.omitManagedFields ?? value.omitManagedFields ?? false,
      },
    }),
  );
  const none: AuditConfig = { level: "None", omitStages: new Set(), omitManagedFields: false };
  return {
    warnings,
    configFor: (request) => matchers.find(({ matches }) => matches(request))?.config ?? none,
  };
}

function matcher(rule: AuditPolicyRule): (request: PolicyRequest) => boolean {
  const users = setOf(rule.users);
  const groups = setOf(rule.userGroups);
  const verbs = setOf(rule.verbs);
  const namespaces = setOf(rule.namespaces);
  const resources = rule.resources ?? [];
  const paths = rule.nonResourceURLs ?? [];
  const ofResources = namespaces !== undefined || resources.length > 0;
  return ({ user, verb, path, resource }) => {
    if (users && !(user && users.has(user.name))) return false;
    if (groups && !user?.groups.some((group) => groups.has(group))) return false;
    if (verbs && !verbs.has(verb)) return false;
    if (ofResources) {
      if (!resource || (namespaces && !namespaces.has(resource.namespace))) return false;
      return resources.length === 0 || resources.some((each) => matchesResource(each, resource));
    }
    if (paths.length > 0) return !resource && paths.some((pattern) => matchesPath(pattern, path));
    return true;
  };
}

const setOf = (items: readonly string[] | undefined): ReadonlySet<string> | undefined =>
  items && items.length > 0 ? new Set(items) : undefined;

function matchesPath(pattern: string, path: string): boolean {
  if (pattern === "*" || pattern === path) return true;
  return pattern.endsWith("*") && path.startsWith(pattern.replace(/\*+$/, ""));
}

type GroupResources = NonNullable<AuditPolicyRule["resources"]>[number];

function matchesResource(
  { group = "", resources = [], resourceNames = [] }: GroupResources,
  { group: ofGroup, resource, subresource, name }: NonNullable<PolicyRequest["resource"]>,
): boolean {
  if (group !== ofGroup) return false;
  if (resources.length === 0) return true;
  if (resourceNames.length > 0 && !resourceNames.includes(name)) return false;
  const combined = subresource ? `${resource}/${subresource}` : resource;
  return resources.some(
    (pattern) =>
      pattern === "*" ||
      pattern === combined ||
      (subresource !== "" && pattern === `*/${subresource}`) ||
      pattern === `${resource}/*`,
  );
}

const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

function ruleProblems(rule: AuditPolicyRule, path: string): string[] {
  const problems: string[] = [];
  if (!levels.includes(rule.level as AuditLevel))
    problems.push(
      `${path}.level: ${JSON.stringify(rule.level ?? "")} is not a level; known are ${levels.join(", ")}`,
    );
  const urls = rule.nonResourceURLs ?? [];
  if (urls.length > 0 && ((rule.resources?.length ?? 0) > 0 || (rule.namespaces?.length ?? 0) > 0))
    problems.push(`${path}.nonResourceURLs: a rule is about resources or about other paths, not both`);
  urls.forEach((url, at) => {
    if (url === "*") return;
    if (!url.startsWith("/")) problems.push(`${path}.nonResourceURLs[${at}]: must begin with a slash`);
    else if (url.slice(0, -1).includes("*"))
      problems.push(`${path}.nonResourceURLs[${at}]: * may stand only at the end`);
  });
  for (const { group = "", resources, resourceNames } of rule.resources ?? []) {
    if (group !== "" && !subdomain.test(group))
      problems.push(`${path}.resources.group: ${JSON.stringify(group)} is not the name of an API group`);
    if ((resourceNames?.length ?? 0) > 0 && (resources?.length ?? 0) === 0)
      problems.push(`${path}.resources.resourceNames: names of objects need resources beside them`);
  }
  return [...problems, ...stageProblems(rule.omitStages ?? [], `${path}.omitStages`)];
}

const stageProblems = (given: readonly string[], path: string): string[] =>
  given.flatMap((stage, at) =>
    stages.includes(stage as Stage)
      ? []
      : [`${path}[${at}]: ${JSON.stringify(stage)} is not a stage; known are ${stages.join(", ")}`],
  );
