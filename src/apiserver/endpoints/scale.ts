// scale: the replicas of a workload, seen and written as a small object of their own.
import { Scale } from "#api";
import { badRequest, deepCopy, invalid, invalidValue, notFound } from "#base";
import { apiVersionOf } from "#dialect";
import type { ApiObject, Endpoint, ScaleChange, WriteRequest } from "#registry";
import { ownersOfScale, update } from "#registry";
import type { Held } from "#watchcache";
import type { ApiCall } from "../api-call.ts";
import { contentType, negotiate } from "../represent/negotiate.ts";
import { viewBody } from "../represent/view.ts";
import { objectFromBody } from "./body.ts";
import { type Endpointed, writeRequest } from "./context.ts";
import { type WriteOptions, writeOptions } from "./options.ts";
import { type Configuration, applyConfiguration, patchedTree, patchType } from "./patch.ts";
import type { Reply } from "#http";

/** The endpoint through which a workload's scale is spoken: same resource, other kind. */
function scaleEndpoint(endpoint: Endpoint): Endpoint {
  const apiVersion = apiVersionOf(endpoint.resource.dialect, Scale.kind);
  return { ...endpoint, schema: Scale, kind: "Scale", apiVersion, group: Scale.kind.group, version: Scale.kind.version, isHub: false, fromHub: (hub) => scaleOf(endpoint, hub) };
}

function scaleOf(endpoint: Endpoint, object: ApiObject): ApiObject {
  const view = endpoint.resource.strategy.scale!;
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const selector = view.selector(object);
  return {
    kind: "Scale",
    apiVersion: apiVersionOf(endpoint.resource.dialect, Scale.kind),
    metadata: { ...(name && { name }), ...(namespace && { namespace }), ...(uid && { uid }), ...(resourceVersion && { resourceVersion }), creationTimestamp },
    spec: view.replicas(object) ? { replicas: view.replicas(object) } : {},
    status: { replicas: view.observed(object), ...(selector && { selector }) },
  } as ApiObject;
}

function reply(call: ApiCall, endpoint: Endpoint, held: Held, status = 200): Reply {
  const { dialect } = endpoint.resource;
  const choice = negotiate(call.call, call.query, dialect, { forms: ["object"] });
  const object = scaleOf(endpoint, endpoint.resource.objectOf(held));
  return { status, headers: { "content-type": contentType(choice.media, dialect) }, body: viewBody(object, Scale, choice, dialect) };
}

export const readScale: Endpointed = async (_context, call, endpoint) => {
  const { resource } = endpoint;
  const held = await resource.source.get(resource.keyOf(call.target.namespace, call.target.name), { at: "latest" });
  if (!held) throw notFound(resource.nameIn(endpoint), call.target.name);
  return reply(call, endpoint, held);
};

export const replaceScale: Endpointed = async (context, call, endpoint) => {
  const options = writeOptions(call, endpoint.resource.dialect, "UpdateOptions");
  const sent = await objectFromBody(call, scaleEndpoint(endpoint), options);
  if (sent.metadata.name !== call.target.name) throw badRequest(`the name of the object (${sent.metadata.name ?? ""}) does not match the name on the URL (${call.target.name})`);
  const request = writeRequest(context, call, endpoint, options);
  return reply(call, endpoint, await written(request, call.target.name, { change: () => sent }, sent.metadata.uid));
};

export const patchScale: Endpointed = async (context, call, endpoint) => {
  const type = patchType(call);
  const applying = type === "application/apply-patch+yaml";
  const options = writeOptions(call, endpoint.resource.dialect, "PatchOptions", applying);
  const spoken = scaleEndpoint(endpoint);
  const change: ScaleChange = applying ? appliedScale(await applyConfiguration(call, spoken, options), options) : { change: await patchedTree(call, spoken, options, type) };
  const request = writeRequest(context, call, endpoint, options);
  return reply(call, endpoint, await written(request, call.target.name, change));
};

const appliedScale = (configuration: Configuration, { force = false }: WriteOptions): ScaleChange => ({
  change: () => {
    const sent = configuration.read();
    configuration.judge();
    return sent;
  },
  applying: { force },
});

/** Stores the replicas a scale says, and who owns them. */
async function written(request: WriteRequest, name: string, change: ScaleChange, uid?: string): Promise<Held> {
  const { endpoint } = request;
  const view = endpoint.resource.strategy.scale!;
  const { held } = await update(request, name, {
    tracked: true,
    uid,
    transform: (found) => {
      const old = found!;
      const { scale, managedFields } = ownersOfScale(request, old, scaleOf(endpoint, old), change);
      const next = deepCopy(old);
      const replicas = (scale as unknown as { spec?: { replicas?: number } }).spec?.replicas ?? 0;
      if (replicas < 0) throw invalid({ group: Scale.kind.group, kind: "Scale" }, name, [invalidValue("spec.replicas", replicas, "must be greater than or equal to 0")]);
      view.setReplicas(next, replicas);
      next.metadata.managedFields = managedFields as NonNullable<ApiObject["metadata"]["managedFields"]>;
      if (scale.metadata.resourceVersion === undefined) delete next.metadata.resourceVersion;
      else next.metadata.resourceVersion = scale.metadata.resourceVersion;
      return next;
    },
  });
  return held;
}
