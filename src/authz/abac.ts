// Attribute-based access control from a policy file: one JSON object per line, with empty lines and #
// comments. The file is read once, at startup.

import { readFileSync } from "node:fs";
import { withoutTrailing } from "#base";
import { type User, authenticatedGroup } from "#authn";
import type { Dialect } from "#dialect";
import type { Attributes, Authorizer, Decision } from "./authorizer.ts";

interface Policy {
  readonly user: string;
  readonly group: string;
  readonly readonly: boolean;
  readonly apiGroup: string;
  readonly resource: string;
  readonly namespace: string;
  readonly nonResourcePath: string;
}

export interface AbacAuthorizer extends Authorizer {
  /** Warnings about the file. */
  readonly warnings: readonly string[];
}

const allowed: Decision = { verdict: "allow", reason: "" };
const unmatched: Decision = { verdict: "no opinion", reason: "No policy matched." };
const readVerbs = ["get", "list", "watch"];

/** Reads a policy file. Throws an error with file and line if it is malformed. */
export const abacAuthorizer = (file: string, dialect: Dialect): AbacAuthorizer =>
  parseAbac(readFileSync(file, "utf8"), file, dialect);

export function parseAbac(text: string, file: string, dialect: Dialect): AbacAuthorizer {
  const warnings: string[] = [];
  const policies = text.split("\n").flatMap((line, index): Policy[] => {
    const trimmed = line.trim();
    if (trimmed === "" || trimmed.startsWith("#")) return [];
    return [policyOf(trimmed, `${file}:${index + 1}`, dialect, warnings)];
  });
  return {
    warnings,
    decide: (attributes) => (policies.some((policy) => allows(policy, attributes)) ? allowed : unmatched),
    rulesFor: (user, namespace) => {
      const own = policies.filter(
        (policy) => matchesUser(policy, user) && (policy.namespace === "*" || policy.namespace === namespace),
      );
      const verbs = (policy: Policy): string[] => (policy.readonly ? readVerbs : ["*"]);
      return {
        resourceRules: own
          .filter(({ resource }) => resource)
          .map((policy) => ({
            verbs: verbs(policy),
            apiGroups: [policy.apiGroup],
            resources: [policy.resource],
          })),
        nonResourceRules: own
          .filter(({ nonResourcePath }) => nonResourcePath)
          .map((policy) => ({ verbs: verbs(policy), nonResourceURLs: [policy.nonResourcePath] })),
        incomplete: false,
      };
    },
  };
}

function policyOf(line: string, place: string, dialect: Dialect, warnings: string[]): Policy {
  const parsed = objectOf(line, place);
  const { apiVersion, kind } = parsed;
  const expected = `${dialect.names.abacGroup}/v1beta1`;
  if (apiVersion === undefined && kind === undefined) {
    warnings.push(
      `${place}: the policy has no version; write {"apiVersion":"${expected}","kind":"Policy","spec":{…}}`,
    );
    return unversioned(fieldsOf(parsed, ["user", "group", "readonly", "resource", "namespace"], place, ""));
  }
  if (apiVersion !== expected || kind !== "Policy")
    throw new Error(
      `${place}: expected apiVersion ${expected} and kind Policy, found ${String(apiVersion)} and ${String(kind)}`,
    );
  const { spec = {} } = parsed;
  if (typeof spec !== "object" || spec === null) throw new Error(`${place}: spec must be an object`);
  return authenticatedOnly(
    fieldsOf(
      spec as Record<string, unknown>,
      ["user", "group", "readonly", "apiGroup", "resource", "namespace", "nonResourcePath"],
      place,
      "spec.",
    ),
  );
}

function objectOf(line: string, place: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
  } catch (error) {
    throw new Error(`${place}: the policy is not JSON: ${(error as Error).message}`, { cause: error });
  }
  throw new Error(`${place}: a policy must be a JSON object`);
}

function fieldsOf(
  given: Record<string, unknown>,
  known: readonly string[],
  place: string,
  below: "" | "spec.",
): Policy {
  const wrong = Object.keys(given).find((key) => !known.includes(key));
  if (wrong !== undefined)
    throw new Error(
      `${place}: unknown field ${JSON.stringify(below + wrong)}; known are ${known.join(", ")}`,
    );
  const bad = Object.entries(given).find(
    ([key, value]) => typeof value !== (key === "readonly" ? "boolean" : "string"),
  );
  if (bad)
    throw new Error(
      `${place}: ${below}${bad[0]} must be ${bad[0] === "readonly" ? "true or false" : "text"}`,
    );
  return {
    user: "",
    group: "",
    readonly: false,
    apiGroup: "",
    resource: "",
    namespace: "",
    nonResourcePath: "",
    ...given,
  };
}

/** In the unversioned form, absent fields match everything, for authenticated users only. */
function unversioned(policy: Policy): Policy {
  const open = policy.user === "" && policy.group === "" ? { ...policy, group: "*" } : policy;
  return {
    ...authenticatedOnly(open),
    apiGroup: "*",
    namespace: policy.namespace || "*",
    resource: policy.resource || "*",
    nonResourcePath: policy.namespace === "" && policy.resource === "" ? "*" : "",
  };
}

/** `*` matches every authenticated user, never anonymous ones. */
const authenticatedOnly = (policy: Policy): Policy =>
  policy.user === "*" || policy.group === "*" ? { ...policy, user: "", group: authenticatedGroup } : policy;

function matchesUser({ user, group }: Policy, { name, groups }: User): boolean {
  if (user === "" && group === "") return false;
  return (user === "" || user === name) && (group === "" || groups.includes(group));
}

function allows(policy: Policy, { user, verb, resource, path = "" }: Attributes): boolean {
  if (!matchesUser(policy, user) || (policy.readonly && !readVerbs.includes(verb))) return false;
  const fits = (pattern: string, value: string): boolean => pattern === "*" || pattern === value;
  if (resource)
    return (
      fits(policy.namespace, resource.namespace) &&
      fits(policy.resource, resource.resource) &&
      fits(policy.apiGroup, resource.group)
    );
  const { nonResourcePath: pattern } = policy;
  return pattern === path || (pattern.endsWith("*") && path.startsWith(withoutTrailing(pattern, "*")));
}
