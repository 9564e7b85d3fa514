// Routes a call to its handler.
import { ApiError, badRequest, methodNotAllowed, notFound, own } from "#base";
import type { Dialect } from "#dialect";
import type { Reply } from "#http";
import type { Endpoint } from "#registry";
import type { ApiCall } from "./api-call.ts";
import { type Catalog, type GroupVersion, type VirtualResource, verbsOf } from "./catalog.ts";
import type { EndpointContext, EndpointHandler } from "./context.ts";
import { checkName } from "./identity.ts";
import { deleteCollection, deleteOne } from "./delete.ts";
import { traced } from "./operation-span.ts";
import { patch, patchTypes } from "./patch.ts";
import { get, list } from "./read.ts";
import { type RouteMedia, checkRoute, listMedia, objectMedia } from "./represent/route-media.ts";
import { patchScale, readScale, replaceScale } from "./scale.ts";
import { watch } from "./watch.ts";
import { create, replace } from "./write.ts";
import type { Target } from "./target.ts";

/** Answers paths that are not resources; returns undefined to pass the call on. */
export type PathHandler = (call: ApiCall) => Promise<Reply | undefined> | Reply | undefined;

const collection: Readonly<Record<string, EndpointHandler>> = {
  list,
  watch,
  create,
  deletecollection: deleteCollection,
};
const item: Readonly<Record<string, EndpointHandler>> = {
  get,
  update: replace,
  patch,
  delete: deleteOne,
  watch,
};

const scaling: Readonly<Record<string, EndpointHandler>> = {
  get: readScale,
  update: replaceScale,
  patch: patchScale,
};

/** A percent sign in a path that begins no escape. */
const badEscape = /%(?![0-9A-Fa-f]{2})/;

const plainText = (status: number, text: string): Reply => ({
  status,
  headers: { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" },
  body: Buffer.from(text),
});

export function router(
  catalog: Catalog,
  context: EndpointContext,
  paths: readonly PathHandler[],
): (call: ApiCall) => Promise<Reply> {
  return async (call) => {
    if (call.target.isResource) {
      const version = catalog.find(call.target.group, call.target.version);
      if (isKnown(call, version)) return await resource(call, version);
    }
    for (const handle of paths) {
      const reply = await handle(call);
      if (reply) return reply;
    }
    return badEscape.test(call.call.path)
      ? plainText(400, "400 Bad Request")
      : plainText(404, "404 page not found\n");
  };

  /** Reports whether a resource path is handled here; an unknown group is treated like any other path. */
  function isKnown({ target }: ApiCall, version: GroupVersion | undefined): boolean {
    if (target.group === "") return true;
    if (version?.remote) return false;
    const endpoint = version?.endpoints.get(target.resource);
    if (endpoint) return endpoint.resource.strategy.custom ? fitsScope(target, endpoint) : true;
    return catalog.isBuiltIn(target.group);
  }

  function resource(call: ApiCall, version: GroupVersion | undefined): Promise<Reply> {
    const { target } = call;
    if (!version) throw notServed();
    const virtual = version.virtual.get(
      target.subresource ? `${target.resource}/${target.subresource}` : target.resource,
    );
    if (target.resource === "") throw notServed();
    const endpoint = version.endpoints.get(target.resource);
    if (target.subresource !== "" && !endpoint?.resource.strategy.custom) {
      // Deprecated watch paths have no subresources.
      if (target.verb === "watch") throw notServed();
      if (!target.named) throw namelessPart(call, endpoint, virtual);
    }
    checkVerb(call, virtual);
    if (virtual) {
      if (target.namespaceMissing) throw notServed();
      if (target.subresource && virtual.verbs.includes(target.verb)) checkName(target.name);
      return traced(call, context.onSlow, () => virtual.handle(call));
    }
    if (!endpoint) throw notServed();
    const { deprecated, warning } = endpoint.served;
    // For custom resources, the warning is also sent with requests for missing subresources.
    if (warning !== undefined) call.warn(warning);
    if (endpoint.resource.strategy.custom) checkCustom(call, endpoint);
    else checkPlace(call, endpoint);
    const handler = handlerFor(call, endpoint);
    if (needsNamespace(target, endpoint)) throw badRequest("Namespace parameter required.");
    if (!endpoint.resource.strategy.custom)
      checkRoute(call.call, routeMedia(target.verb, endpoint.resource.dialect));
    if (looksUpName(target, endpoint)) checkName(target.name);
    if (deprecated) {
      const { audit } = endpoint.resource.dialect.names;
      call.warn(deprecation(endpoint, deprecated));
      call.annotate(audit.deprecated, "true");
      call.removedRelease = deprecated.until.replace(/^v/, "");
      call.annotate(audit.removedRelease, call.removedRelease);
    }
    return traced(call, context.onSlow, () => handler(context, call, endpoint));
  }
}

interface RoutesMedia {
  readonly lists: RouteMedia;
  readonly patches: RouteMedia;
  readonly others: RouteMedia;
}
const routesMedia = new WeakMap<Dialect, RoutesMedia>();

function mediaOf(dialect: Dialect): RoutesMedia {
  const produces = objectMedia(dialect);
  return {
    lists: { produces: listMedia(dialect) },
    patches: { produces, consumes: patchTypes },
    others: { produces },
  };
}

function routeMedia(verb: string, dialect: Dialect): RouteMedia {
  const { lists, patches, others } = routesMedia.getOrInsertComputed(dialect, mediaOf);
  return verb === "list" || verb === "watch" ? lists : verb === "patch" ? patches : others;
}

/** The methods of each verb; verbs that are not listed come from methods that only proxies support. */
const methodsOf: Readonly<Record<string, readonly string[]>> = {
  get: ["GET", "HEAD"],
  list: ["GET", "HEAD"],
  watch: ["GET"],
  create: ["POST"],
  update: ["PUT"],
  patch: ["PATCH"],
  delete: ["DELETE"],
  deletecollection: ["DELETE"],
};

/**
 * Requests are only handled as the verb they were authorized for. The verb of `/watch/` paths comes from the
 * path, so its method must match, and most virtual resources, which cannot be watched, have no such path.
 */
function checkVerb({ call, target, method }: ApiCall, virtual: VirtualResource | undefined): void {
  // Resources that can be listed reject watches themselves, after validating the options.
  const listed = virtual?.verbs.includes("list") && !call.path.includes("/watch/");
  if (target.verb === "watch" && virtual && !virtual.verbs.includes("watch") && !listed) throw notServed();
  const methods = methodsOf[target.verb];
  if (methods && !methods.includes(method)) throw methodNotAllowed();
}

/**
 * Reports whether the name is validated here; for the scale of a built-in kind, kube-apiserver only reports
 * that the object does not exist.
 */
const looksUpName = ({ named, verb, subresource }: Target, { resource: { strategy } }: Endpoint): boolean =>
  named &&
  verb !== "create" &&
  verb !== "watch" &&
  !(verb === "get" && subresource === "scale" && !strategy.custom);

function deprecation(
  { apiVersion, group, kind }: Endpoint,
  { since, until, instead }: NonNullable<Endpoint["served"]["deprecated"]>,
): string {
  return `${apiVersion} ${kind} is deprecated in ${since}+, unavailable in ${until}+; use ${group}/${instead} ${kind}`;
}

/** Verbs of the methods on a subresource, whose object the path does not name. */
const verbsOnPart: Readonly<Record<string, string>> = {
  GET: "get",
  POST: "create",
  PUT: "update",
  PATCH: "patch",
  DELETE: "delete",
};

/** Returns the error of a request for the subresource of an object without a name. */
function namelessPart(
  { target: { subresource, rest }, method }: ApiCall,
  endpoint: Endpoint | undefined,
  virtual: VirtualResource | undefined,
): ApiError {
  const { scale, subresources = {} } = endpoint?.resource.strategy ?? {};
  const scaled = subresource === "scale" && scale !== undefined && rest === "";
  const part =
    Object.hasOwn(subresources, subresource) && rest === "" ? subresources[subresource] : undefined;
  if (!virtual && !scaled && !part) return notServed();
  const verb = own(verbsOnPart, method) ?? "";
  const allowed: readonly string[] = virtual?.verbs ?? part?.verbs ?? ["get", "update", "patch"];
  return allowed.includes(verb) ? badRequest("name must be provided") : methodNotAllowed();
}

function handlerFor(call: ApiCall, endpoint: Endpoint): EndpointHandler {
  const { target, method } = call;
  if (target.subresource) {
    const { strategy } = endpoint.resource;
    if (target.subresource === "scale" && strategy.scale && !target.rest) {
      const scaler = method === "HEAD" ? undefined : scaling[target.verb];
      if (!scaler) throw methodNotAllowed();
      return scaler;
    }
    const { subresources } = strategy;
    const part =
      subresources && Object.hasOwn(subresources, target.subresource)
        ? subresources[target.subresource]
        : undefined;
    if (!part || target.rest) throw notServed();
    const allowed = part.verbs ?? ["get", "update", "patch"];
    if (method === "HEAD" || !allowed.includes(target.verb as "get")) throw methodNotAllowed();
    return item[target.verb]!;
  }
  const { custom = false } = endpoint.resource.strategy;
  // For custom kinds only the verb matters: HEAD reads, and POST creates the object named in the body.
  const named = target.named && !(custom && target.verb === "create");
  const handler = (named ? item : collection)[target.verb];
  if ((method === "HEAD" && !custom) || !handler || !verbsOf(endpoint).includes(target.verb as never))
    throw methodNotAllowed();
  return handler;
}

/** Verbs of the subresources of a custom kind. */
const partVerbs = { get: true, update: true, patch: true };

/** Reports whether a path of a custom kind has the kind's scope; other paths are not found. */
function fitsScope({ namespace, verb }: Target, { resource: { namespaced } }: Endpoint): boolean {
  if (!namespaced) return namespace === "";
  return namespace !== "" || verb === "list" || verb === "watch";
}

function checkCustom({ target }: ApiCall, { group, resource: { strategy } }: Endpoint): void {
  const { resource, subresource, name } = target;
  const served =
    subresource === "" ||
    (subresource === "scale" && strategy.scale !== undefined) ||
    Object.hasOwn(strategy.subresources ?? {}, subresource);
  if (!served) throw notFound({ group, resource }, name);
  const allowed = subresource === "" ? methodsOf : partVerbs;
  if (!Object.hasOwn(allowed, target.verb))
    throw new ApiError(
      405,
      "MethodNotAllowed",
      `${target.verb} is not supported on resources of kind "${resource}.${group}"`,
      { group, kind: resource },
    );
  if (!target.named && (target.verb === "update" || target.verb === "patch"))
    throw badRequest("name must be provided");
  if (strategy.terminating?.() && target.verb === "create" && subresource === "")
    throw new ApiError(
      405,
      "MethodNotAllowed",
      "create not allowed while custom resource definition is terminating",
      { group, kind: resource },
    );
}

function checkPlace({ target }: ApiCall, endpoint: Endpoint): void {
  const { namespaced } = endpoint.resource;
  // The path of a namespace contains the namespace as its scope; a namespace within another does not exist.
  const isNamespaceItself =
    target.resource === "namespaces" && target.group === "" && target.name === target.namespace;
  if (!namespaced && (target.namespace || target.namespaceMissing) && !isNamespaceItself) throw notServed();
  if (target.namespaceMissing) return;
  if (target.namespace === "." || target.namespace === "..")
    throw badRequest(`Namespace parameter invalid: ${JSON.stringify(target.namespace)}`);
  // Without a namespace, only reads across all namespaces are allowed.
  if (namespaced && !target.namespace && target.named) throw notServed();
  if (namespaced && !target.namespace && target.verb !== "list" && target.verb !== "watch")
    throw methodNotAllowed();
}

/** A creation reports a missing namespace as a fault of the object. */
const needsNamespace = ({ namespaceMissing, verb }: Target, { resource }: Endpoint): boolean =>
  namespaceMissing === true &&
  !resource.strategy.custom &&
  verb !== "list" &&
  verb !== "watch" &&
  verb !== "create";

export const notServed = (): ApiError =>
  new ApiError(404, "NotFound", "the server could not find the requested resource", {});
