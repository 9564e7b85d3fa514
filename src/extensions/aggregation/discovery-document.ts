// Parses discovery documents of other servers, legacy and aggregated. They are decoded by schema as in
// kube-apiserver: unknown fields are dropped, and a document with a value of the wrong type is rejected.
import { type APIResource, APIGroupDiscoveryV2beta1, APIResourceList, listOf } from "#api";
import { type Message, type TypeOf, fromJsonValue, parseYaml } from "#schema";

type Json = Readonly<Record<string, unknown>>;

const discoveryList = listOf(APIGroupDiscoveryV2beta1);

/** Returns the resources of one version from legacy discovery, or undefined if the document is invalid. */
export function listedResources(text: string): readonly APIResource[] | undefined {
  const read = decoded(APIResourceList, text);
  if (!read || (read.kind ?? "APIResourceList") !== "APIResourceList" || (read.apiVersion ?? "v1") !== "v1")
    return undefined;
  const resources = read.resources ?? [];
  const scopes = new Map(resources.map(({ name, namespaced }) => [name, namespaced]));
  const whole = ({ name }: APIResource): string => name.slice(0, name.indexOf("/"));
  // A subresource whose scope differs from its resource makes the whole list invalid.
  const misplaced = resources.some(
    (each) => each.name.includes("/") && (scopes.get(whole(each)) ?? each.namespaced) !== each.namespaced,
  );
  return misplaced ? undefined : resources;
}

/**
 * Returns the resources of a version from aggregated discovery, empty if it is not listed; undefined if the
 * document is invalid.
 */
export function discoveredResources(
  text: string,
  { group, version }: { readonly group: string; readonly version: string },
): readonly Json[] | undefined {
  const read = decoded(discoveryList, text);
  if (!read) return undefined;
  const own = (read.items ?? [])
    .filter(({ metadata }) => (metadata.name ?? "") === group)
    .flatMap(({ versions }) => versions ?? [])
    .findLast((each) => each.version === version);
  return (own?.resources ?? []).map(withKinds);
}

/** Clients of release 1.26 fail if a resource has no responseKind. */
function withKinds(resource: Json): Json {
  const responseKind = resource["responseKind"] ?? { group: "", version: "", kind: "" };
  const parts = (resource["subresources"] as readonly Json[] | undefined)?.map(withKinds);
  return { ...resource, responseKind, ...(parts && { subresources: parts }) };
}

function decoded<M extends Message>(schema: M, text: string): TypeOf<M> | undefined {
  try {
    const value: unknown = text.trimStart().startsWith("{") ? JSON.parse(text) : parseYaml(text).value;
    return fromJsonValue(schema, value ?? {}).value;
  } catch {
    return undefined;
  }
}
