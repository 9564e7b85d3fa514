// What a request is about, read from its method and path alone.
//
//   /api/v1/namespaces/default/pods/web/log        core group, namespaced, with a subresource
//   /apis/apps/v1/deployments                      named group, across namespaces
//   /api/v1/watch/namespaces/default/pods          the old way to watch
//   /healthz                                       not a resource
import type { Query } from "#http";

export interface Target {
  /** In lower case: get, list, watch, create, update, patch, delete, deletecollection; for other paths the method. */
  readonly verb: string;
  /** The decoded path. */
  readonly path: string;
  readonly isResource: boolean;
  readonly group: string;
  readonly version: string;
  readonly namespace: string;
  readonly resource: string;
  readonly subresource: string;
  readonly name: string;
  /** Whether the path itself names an object; a field selector may give a name too. */
  readonly named: boolean;
  /** What follows the subresource, as proxies need it. */
  readonly rest: string;
}

const verbs: Readonly<Record<string, string>> = { POST: "create", GET: "get", HEAD: "get", PUT: "update", PATCH: "patch", DELETE: "delete" };
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

export function parseTarget(method: string, rawPath: string, query: Query): Target {
  const path = decodePath(rawPath);
  const parts = path.split("/").filter((part, position, all) => part !== "" || (position > 0 && position < all.length - 1));
  const other = nonResource(method.toLowerCase(), path);
  const prefix = parts[0];
  if (parts.length < 3 || (prefix !== "api" && prefix !== "apis")) return other;
  let rest = parts.slice(1);
  let group = "";
  if (prefix === "apis") {
    if (rest.length < 3) return other;
    group = rest[0]!;
    rest = rest.slice(1);
  }
  const version = rest[0]!;
  rest = rest.slice(1);
  let verb = verbs[method] ?? "";
  if (rest[0] === "watch") {
    if (rest.length < 2) return other;
    verb = "watch";
    rest = rest.slice(1);
  }
  let namespace = "";
  if (rest[0] === "namespaces") {
    namespace = rest[1] ?? "";
    // A namespace itself is an object; what follows its name otherwise lives in it.
    if (rest.length > 2 && !namespaceSubresources.has(rest[2]!)) rest = rest.slice(2);
  }
  const [resource = "", name = "", subresource = "", ...more] = rest;
  if (name === "" && (verb === "get" || verb === "watch")) verb = verb === "watch" || isTrue(query.get("watch")) ? "watch" : "list";
  if (name === "" && verb === "delete") verb = "deletecollection";
  const selected = name === "" && (verb === "list" || verb === "watch" || verb === "deletecollection") ? nameFromSelector(query) : "";
  return { verb, path, isResource: true, group, version, namespace, resource, subresource, name: name || selected, named: name !== "", rest: more.join("/") };
}

/** How the API reads a boolean parameter: anything but false and 0 is true. */
export function isTrue(value: string | undefined): boolean {
  return value !== undefined && value.toLowerCase() !== "false" && value !== "0";
}

// Rules that name one object also hold for a list that asks for just that one.
function nameFromSelector(query: Query): string {
  const match = /(?:^|,)metadata\.name={1,2}([^,=]+)(?:,|$)/.exec(query.get("fieldSelector") ?? "");
  return match?.[1] ?? "";
}

function decodePath(path: string): string {
  if (!path.includes("%")) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
