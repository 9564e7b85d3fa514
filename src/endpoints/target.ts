// The attributes of a request, parsed from its method and path.
//
//   /api/v1/namespaces/default/pods/web/log        core group, namespaced, with a subresource
//   /apis/apps/v1/deployments                      named group, across namespaces
//   /api/v1/watch/namespaces/default/pods          deprecated watch path
//   /healthz                                       not a resource
import { own } from "#base";
import type { Query } from "#http";

export interface Target {
  /**
   * In lower case: get, list, watch, create, update, patch, delete, deletecollection; the method for other
   * paths.
   */
  readonly verb: string;
  /** The decoded path. */
  readonly path: string;
  readonly isResource: boolean;
  readonly group: string;
  readonly version: string;
  readonly namespace: string;
  /** The name of the namespace is empty in the path; clients send this if they have none. */
  readonly namespaceMissing?: true;
  readonly resource: string;
  readonly subresource: string;
  readonly name: string;
  /** The path names an object; `name` may also come from a field selector. */
  readonly named: boolean;
  /** The rest of the path after the subresource, for proxies. */
  readonly rest: string;
}

const verbs: Readonly<Record<string, string>> = {
  POST: "create",
  GET: "get",
  HEAD: "get",
  PUT: "update",
  PATCH: "patch",
  DELETE: "delete",
};
const namespaceSubresources = new Set(["status", "finalize"]);

const nonResource = (verb: string, path: string): Target => ({
  verb,
  path,
  isResource: false,
  group: "",
  version: "",
  namespace: "",
  resource: "",
  subresource: "",
  name: "",
  named: false,
  rest: "",
});

/**
 * Recently requested collections by path: this avoids parsing, and reuses the same strings, which makes
 * lookups by them cheaper.
 */
const collections = new Map<string, Target>();
const mostCollections = 1024;
const longestRemembered = 256;

export function parseTarget(method: string, rawPath: string, query: Query): Target {
  const verb = own(verbs, method);
  if (verb !== undefined) {
    const collection = collections.get(rawPath);
    if (collection) return { ...collection, ...ofCollection(verb, query) };
    const cut = rawPath.lastIndexOf("/");
    const around = collections.get(rawPath.slice(0, cut));
    const name = rawPath.slice(cut + 1);
    if (around && name !== "" && !name.includes("%"))
      return { ...around, verb, path: rawPath, name, named: true };
  }
  const parsed = parsePath(method, rawPath, query);
  remember(rawPath, parsed);
  return parsed;
}

/**
 * Caches the collection of a simple path. `namespaces` is excluded: what follows it is both an object and a
 * scope.
 */
function remember(path: string, target: Target): void {
  const { resource, subresource, named } = target;
  if (resource === "" || resource === "namespaces" || subresource !== "") return;
  if (/%|\/\/|\/$|^[^/]|\/watch\//.test(path)) return;
  const collection = named ? path.slice(0, path.lastIndexOf("/")) : path;
  if (collection.length > longestRemembered) return;
  if (collections.size >= mostCollections) collections.clear();
  collections.set(collection, { ...target, verb: "", path: collection, name: "", named: false });
}

/** The verb of a method on a collection. A field selector may still name one object. */
function ofCollection(verb: string, query: Query): Pick<Target, "verb" | "name"> {
  if (verb === "get")
    return { verb: isTrue(query.get("watch")) ? "watch" : "list", name: nameFromSelector(query) };
  return { verb: verb === "delete" ? "deletecollection" : verb, name: "" };
}

function parsePath(method: string, rawPath: string, query: Query): Target {
  const path = decodePath(rawPath);
  // A path that cannot be decoded is not a resource.
  if (path === undefined) return nonResource(method.toLowerCase(), rawPath);
  const parts = path.split("/");
  if (parts[0] === "") parts.shift();
  if (parts.at(-1) === "") parts.pop();
  // Proxies pass on all slashes but one.
  while (parts.at(-1) === "" && !parts.includes("proxy")) parts.pop();
  const prefix = parts[0];
  const core = prefix === "api";
  if (parts.length < (core ? 3 : 4) || (!core && prefix !== "apis"))
    return nonResource(method.toLowerCase(), path);
  const group = core ? "" : parts[1]!;
  let at = core ? 2 : 3;
  const version = parts[at - 1]!;
  let verb = own(verbs, method) ?? "";
  if (parts[at] === "watch") {
    if (parts.length < at + 2) return nonResource(method.toLowerCase(), path);
    verb = "watch";
    at++;
  }
  let namespace = "";
  let namespaceMissing = false;
  if (parts[at] === "namespaces") {
    namespace = parts[at + 1] ?? "";
    // A namespace is an object itself; what follows its name is in it, except its own subresources.
    if (parts.length > at + 2 && !namespaceSubresources.has(parts[at + 2]!)) {
      namespaceMissing = namespace === "";
      at += 2;
    }
  }
  // Only namespaces, names and the tail passed on by a proxy may be empty: resources and subresources are not.
  const hole = parts.indexOf("", namespaceMissing ? at : 0);
  if (hole >= 0 && hole < at + 3 && hole !== at + 1)
    return {
      ...nonResource(verb, path),
      isResource: true,
      group,
      version,
      namespace,
      name: hole === at ? (parts[at + 1] ?? "") : "",
    };
  const resource = parts[at] ?? "";
  const name = parts[at + 1] ?? "";
  const subresource = parts[at + 2] ?? "";
  const wanted = name === "" ? ofCollection(verb, query) : { verb, name };
  return {
    verb: wanted.verb,
    path,
    isResource: true,
    group,
    version,
    namespace,
    ...(namespaceMissing && { namespaceMissing }),
    resource,
    subresource,
    name: wanted.name,
    named: name !== "",
    rest: parts.length > at + 3 ? parts.slice(at + 3).join("/") : "",
  };
}

/** Parses a boolean parameter: anything but false and 0 is true. */
export function isTrue(value: string | undefined): boolean {
  return value !== undefined && value.toLowerCase() !== "false" && value !== "0";
}

// Authorization rules for one named object also apply to a list restricted to that object.
function nameFromSelector(query: Query): string {
  const match = /(?:^|,)metadata\.name={1,2}((?:[^,=\\]|\\[,=\\])+)(?:,|$)/.exec(
    query.get("fieldSelector") ?? "",
  );
  return match?.[1]!.replace(/\\(.)/g, "$1") ?? "";
}

function decodePath(path: string): string | undefined {
  if (!path.includes("%")) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}
