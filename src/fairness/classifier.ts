// Determines the flow schema of a request: schemas in order of precedence, each compiled to closures that do
// not allocate.
import type { FlowSchema } from "#api";
import type { RequestDigest } from "./request-digest.ts";

type Spec = FlowSchema["spec"];
type Rule = NonNullable<Spec["rules"]>[number];
type Subject = NonNullable<Rule["subjects"]>[number];
type ResourceRule = NonNullable<Rule["resourceRules"]>[number];
type PathRule = NonNullable<Rule["nonResourceRules"]>[number];
type Matcher = (request: RequestDigest) => boolean;

/** Sorts schemas in matching order: by precedence, then by name. */
export const inOrder = <T extends { readonly name: string; readonly spec: Spec }>(
  schemas: readonly T[],
): T[] =>
  schemas.toSorted(
    (a, b) =>
      (a.spec.matchingPrecedence ?? 0) - (b.spec.matchingPrecedence ?? 0) ||
      (a.name < b.name ? -1 : a.name > b.name ? 1 : 0),
  );

/** Returns a function that reports whether a request matches a schema. */
export function schemaMatcher({ rules }: Spec): Matcher {
  return anyOf((rules ?? []).map(ruleMatcher));
}

function ruleMatcher({ subjects, resourceRules, nonResourceRules }: Rule): Matcher {
  const isSubject = anyOf((subjects ?? []).map(subjectMatcher));
  const isResource = anyOf((resourceRules ?? []).map(resourceMatcher));
  const isPath = anyOf((nonResourceRules ?? []).map(pathMatcher));
  return (request) => isSubject(request) && (request.isResource ? isResource(request) : isPath(request));
}

function anyOf(matchers: readonly Matcher[]): Matcher {
  const [only] = matchers;
  if (!only) return () => false;
  if (matchers.length === 1) return only;
  return (request) => {
    for (const matches of matchers) if (matches(request)) return true;
    return false;
  };
}

function subjectMatcher({ kind, user, group, serviceAccount }: Subject): Matcher {
  if (kind === "User" && user) {
    const { name } = user;
    return name === "*" ? () => true : ({ userName }) => userName === name;
  }
  if (kind === "Group" && group) {
    const { name } = group;
    return name === "*" ? () => true : ({ groups }) => groups.includes(name);
  }
  if (kind === "ServiceAccount" && serviceAccount) {
    const { namespace, name } = serviceAccount;
    const prefix = `system:serviceaccount:${namespace}:`;
    return name === "*"
      ? ({ userName }) => userName.startsWith(prefix)
      : ({ userName }) => userName === prefix + name;
  }
  return () => false;
}

function resourceMatcher({
  verbs,
  apiGroups,
  resources: given,
  namespaces,
  clusterScope,
}: ResourceRule): Matcher {
  const resources = given ?? [];
  const isVerb = oneOf(verbs);
  const isGroup = oneOf(apiGroups);
  const isNamespace = oneOf(namespaces);
  const anyResource = resources.length === 1 && resources[0] === "*";
  const isResource = (resource: string, subresource: string): boolean => {
    if (anyResource) return true;
    for (const each of resources) {
      if (subresource === "" ? each === resource : isJoined(each, resource, subresource)) return true;
    }
    return false;
  };
  return ({ verb, group, resource, subresource, namespace }) =>
    isVerb(verb) &&
    isResource(resource, subresource) &&
    isGroup(group) &&
    (namespace === "" ? clusterScope === true : isNamespace(namespace));
}

/** Reports whether the string is `resource/subresource`. */
const isJoined = (text: string, resource: string, subresource: string): boolean =>
  text.length === resource.length + 1 + subresource.length &&
  text.startsWith(resource) &&
  text.charCodeAt(resource.length) === 47 &&
  text.endsWith(subresource);

function pathMatcher({ verbs, nonResourceURLs }: PathRule): Matcher {
  const isVerb = oneOf(verbs);
  const urls = nonResourceURLs ?? [];
  const paths = urls.map((path) => {
    const bare = path.replace(/\*$/, "");
    return { path, prefix: bare.endsWith("/") ? bare : `${bare}/` };
  });
  if (urls.includes("*")) return ({ verb }) => isVerb(verb);
  return ({ verb, path: requested }) => {
    if (!isVerb(verb)) return false;
    for (const { path, prefix } of paths) if (requested === path || requested.startsWith(prefix)) return true;
    return false;
  };
}

function oneOf(given: readonly string[] | null): (name: string) => boolean {
  const names = given ?? [];
  if (names.length === 1 && names[0] === "*") return () => true;
  return (name) => names.includes(name);
}
