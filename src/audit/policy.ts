// The audit policy, which selects what is recorded of a request. The first matching rule decides.
import { readFileSync } from "node:fs";
import { AuditPolicyFile, type AuditPolicyRule, type ConfigObject, decodeConfigObject } from "#api";
import {
  type FieldError,
  fieldErrorsText,
  fileErrorText,
  invalidValue,
  notSupported,
  required,
  withoutTrailing,
} from "#base";
import { type Dialect, groupName } from "#dialect";
import { dns1123SubdomainProblems, parseYaml } from "#schema";
import { type AuditLevel, type Stage, levels, stages } from "./event.ts";

/** The attributes of a request that policies match. */
export interface PolicyRequest {
  readonly user?: { readonly name: string; readonly groups: readonly string[] } | undefined;
  readonly verb: string;
  /** The path of a non-resource request. */
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
  /** Warnings about unknown or duplicate fields of the file. */
  readonly warnings: readonly string[];
}

/** Returns the text of the file; errors are worded as in kube-apiserver. */
export function readPolicyFile(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new Error(
      `loading audit policy file: failed to read file path ${JSON.stringify(file)}: ${fileErrorText(error, file)}`,
      { cause: error },
    );
  }
}

/** Parses a policy. Throws an error with all invalid fields, worded as in kube-apiserver. */
export function parsePolicy(text: string, file: string, dialect: Dialect): AuditPolicy {
  const failed = (why: string, cause?: unknown): Error =>
    new Error(`loading audit policy file: ${why}: from file ${file}`, { cause });
  let decoded: ConfigObject<typeof AuditPolicyFile>;
  try {
    decoded = decodePolicy(text, dialect);
  } catch (error) {
    const why = (error as Error).message;
    throw failed(error instanceof UnknownVersion ? why : `failed decoding: ${why}`, error);
  }
  const { value } = decoded;
  const rules = value.rules ?? [];
  const errors = [
    ...stageErrors(value.omitStages ?? [], "omitStages"),
    ...rules.flatMap((rule, at) => ruleErrors(rule, `rules[${at}]`)),
  ];
  if (errors.length > 0) throw failed(fieldErrorsText(errors));
  if (rules.length === 0) throw failed("loaded illegal policy with 0 rules");
  const warnings = decoded.warnings.map((warning) => `${file}: ${warning}`);
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
  const matchesOnlyResources = namespaces !== undefined || resources.length > 0;
  return ({ user, verb, path, resource }) => {
    if (users && !(user && users.has(user.name))) return false;
    if (groups && !user?.groups.some((group) => groups.has(group))) return false;
    if (verbs && !verbs.has(verb)) return false;
    if (matchesOnlyResources) {
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
  return pattern.endsWith("*") && path.startsWith(withoutTrailing(pattern, "*"));
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

class UnknownVersion extends Error {}

/** Decodes a policy. The kind may be omitted, the version may not. */
function decodePolicy(text: string, dialect: Dialect): ConfigObject<typeof AuditPolicyFile> {
  const { value, duplicate } = parseYaml(text);
  const { kind } = AuditPolicyFile.kind;
  if (typeof (value ?? {}) !== "object" || Array.isArray(value))
    return decodeConfigObject(text, [AuditPolicyFile], dialect);
  const { apiVersion, kind: givenKind } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (!apiVersion && (!givenKind || givenKind === kind)) {
    const group = groupName(dialect, AuditPolicyFile.kind);
    throw new UnknownVersion(`unknown group version field ${group}/__internal, Kind=${kind} in policy`);
  }
  const decoded = decodeConfigObject({ value: { kind, ...(value as object) } }, [AuditPolicyFile], dialect);
  return { ...decoded, warnings: [...duplicate, ...decoded.warnings] };
}

function ruleErrors(rule: AuditPolicyRule, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (!rule.level) errors.push(required(`${path}.level`));
  else if (!levels.includes(rule.level as AuditLevel))
    errors.push(notSupported(`${path}.level`, rule.level, levels));
  const urls = rule.nonResourceURLs ?? [];
  urls.forEach((url, at) => {
    if (url === "*") return;
    const wrong = (detail: string): unknown =>
      errors.push(invalidValue(`${path}.nonResourceURLs[${at}]`, url, detail));
    if (!url.startsWith("/")) wrong("non-resource URL rules must begin with a '/' character");
    if (url.slice(0, -1).includes("*"))
      wrong("non-resource URL wildcards '*' must be the final character of the rule");
  });
  for (const { group = "", resources, resourceNames = [] } of rule.resources ?? []) {
    const problems = group === "" ? [] : dns1123SubdomainProblems(group);
    if (problems.length > 0) errors.push(invalidValue(`${path}.resources.group`, group, problems.join(",")));
    if (resourceNames.length > 0 && !resources?.length)
      errors.push(
        invalidValue(
          `${path}.resources.resourceNames`,
          resourceNames,
          "using resourceNames requires at least one resource",
        ),
      );
  }
  errors.push(...stageErrors(rule.omitStages ?? [], `${path}.omitStages`));
  if (urls.length > 0 && (rule.resources?.length || rule.namespaces?.length))
    errors.push(
      invalidValue(
        `${path}.nonResourceURLs`,
        urls,
        "rules cannot apply to both regular resources and non-resource URLs",
      ),
    );
  return errors;
}

const stageErrors = (given: readonly string[], path: string): FieldError[] =>
  given.flatMap((stage, at) =>
    stages.includes(stage as Stage)
      ? []
      : [invalidValue(`${path}[${at}]`, stage, `allowed stages are ${stages.join(",")}`)],
  );
