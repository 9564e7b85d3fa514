// The scale subresource: the replicas of a workload, read and written as a separate small object.
import { type ObjectMeta, PartialObjectMetadata, Scale, Table } from "#api";
import { ApiError, badRequest, conflict, deepCopy, internal, invalid, invalidValue, notFound } from "#base";
import { type Dialect, apiVersionOf } from "#dialect";
import {
  type AdmissionView,
  type ApiObject,
  type ChangedScale,
  type Column,
  type Endpoint,
  type ScaleChange,
  type ScaleView,
  type Strategy,
  type WriteRequest,
  ageColumn,
  changeScale,
  dnsSubdomain,
  nameColumn,
  update,
  validateFinalizersQualified,
  validateMeta,
} from "#registry";
import { type Message, encodeJson } from "#schema";
import type { CachedObject } from "#watchcache";
import type { ApiCall } from "./api-call.ts";
import {
  type Choice,
  UnfitForm,
  contentType,
  customForms,
  everyForm,
  negotiate,
} from "./represent/negotiate.ts";
import { columnDefinitions, partialMetadata, rowOf } from "./represent/table.ts";
import { viewBody } from "./represent/view.ts";
import { objectFromBody, readBody } from "./body.ts";
import { type EndpointContext, type EndpointHandler, includeObject, writeRequest } from "./context.ts";
import { checkIdentity } from "./identity.ts";
import { type WriteOptions, writeOptions } from "./options.ts";
import { recordPatch } from "./recorded-request.ts";
import { type Configuration, applyConfiguration, patchedTree, patchType } from "./patch.ts";
import type { Reply } from "#http";

/** The endpoint for a workload's scale: same resource, other kind. */
function scaleEndpoint(endpoint: Endpoint): Endpoint {
  const apiVersion = apiVersionOf(endpoint.resource.dialect, Scale.kind);
  return {
    ...endpoint,
    schema: Scale,
    kind: "Scale",
    apiVersion,
    group: Scale.kind.group,
    version: Scale.kind.version,
    isHub: false,
    fromHub: (hub) => scaleOf(endpoint, hub, 0),
  };
}

/** Placeholder for missing replicas of a custom object while its scale is being written. */
const unset = -(2 ** 31);

function scaleOf(endpoint: Endpoint, object: ApiObject, missing?: number): ApiObject {
  const view = endpoint.resource.strategy.scale!;
  const replicas = view.replicas(object) ?? missing;
  if (replicas === undefined) throw internal(`the spec replicas field "${pathOf(view)}" does not exist`);
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const selector = view.selector(object);
  return {
    kind: "Scale",
    apiVersion: apiVersionOf(endpoint.resource.dialect, Scale.kind),
    metadata: {
      ...(name && { name }),
      ...(namespace && { namespace }),
      ...(uid && { uid }),
      ...(resourceVersion && { resourceVersion }),
      creationTimestamp,
    },
    spec: replicas ? { replicas } : {},
    status: { replicas: view.observed(object), ...(selector && { selector }) },
  } as ApiObject;
}

const pathOf = ({ replicasPath = ["spec", "replicas"] }: ScaleView<ApiObject>): string =>
  `.${replicasPath.join(".")}`;

const replicasColumn = (
  name: string,
  doc: string,
  part: "spec" | "status",
  missing: 0 | null,
): Column<ApiObject> => ({
  name,
  type: "integer",
  doc,
  cell: (scale) =>
    (scale as unknown as Record<string, { replicas?: number } | undefined>)[part]?.replicas ?? missing,
});

/** `missing` is shown if no replicas are requested, as a scale omits zero. */
const counts = (missing: 0 | null): Column<ApiObject>[] => [
  replicasColumn("Desired", "How many there should be.", "spec", missing),
  replicasColumn("Available", "How many there are.", "status", 0),
];
const { format: _, ...plainNameColumn } = nameColumn;

/**
 * The table columns of a scale: for custom kinds those of custom resources, for others columns without
 * formats.
 */
const printed = ({ custom }: Strategy): Pick<Strategy, "columns"> => ({
  columns: custom
    ? [nameColumn, ...counts(null), { ...ageColumn, type: "date" }]
    : [plainNameColumn, ...counts(0), ageColumn],
});

/** The requested representation of a scale, negotiated before anything else is done. */
const negotiateScale = (call: ApiCall, { resource: { dialect, strategy } }: Endpoint): Choice =>
  negotiate(call.call, call.query, dialect, strategy.custom ? customForms : everyForm);

/** Reports whether the scale cannot be represented in the requested form. */
const isRefused = (call: ApiCall, { form }: Choice): boolean =>
  form === "PartialObjectMetadataList" || (form === "Table" && includeObject(call) instanceof ApiError);

function reply(
  context: EndpointContext,
  call: ApiCall,
  endpoint: Endpoint,
  cached: CachedObject,
  choice: Choice,
): Reply {
  const { dialect } = endpoint.resource;
  const object = scaleOf(endpoint, endpoint.resource.objectOf(cached));
  const answered = (body: Parameters<typeof viewBody>[0], schema: Message): Reply => ({
    status: 200,
    headers: { "content-type": contentType(choice.media, dialect) },
    body: viewBody(body, schema, choice, dialect),
  });
  if (choice.form === "object") return answered(object, Scale);
  if (choice.form === "PartialObjectMetadata")
    return answered(partialMetadata(object, choice.formVersion), PartialObjectMetadata);
  if (choice.form === "PartialObjectMetadataList")
    throw new UnfitForm(choice.form, endpoint.resource.strategy.custom ? "v1.Scale" : "autoscaling.Scale");
  const include = includeObject(call);
  if (include instanceof ApiError) throw include;
  const columns = printed(endpoint.resource.strategy) as Strategy;
  const row = rowOf(columns, object, object, include, choice.formVersion, new Date(context.clock.now()));
  const metadata = { resourceVersion: object.metadata.resourceVersion };
  const table = {
    kind: "Table",
    apiVersion: choice.formVersion,
    metadata,
    columnDefinitions: columnDefinitions(columns),
    rows: [row],
  };
  return answered(table, Table);
}

/**
 * The resource named in a not-found error: usually the scale, in the group of the scaled resource or its own,
 * as in kube-apiserver.
 */
function scaleName(endpoint: Endpoint): { readonly group: string; readonly resource: string } {
  const { resource, group } = endpoint.resource.nameIn(endpoint);
  if (resource === "statefulsets") return { group, resource };
  return { group: group || Scale.kind.group, resource: `${resource}/scale` };
}

export const readScale: EndpointHandler = async (context, call, endpoint) => {
  const { resource } = endpoint;
  const choice = negotiateScale(call, endpoint);
  const cached = await resource.source.get(resource.keyOf(call.target.namespace, call.target.name), {
    at: "latest",
  });
  if (!cached)
    throw notFound(
      resource.strategy.custom ? resource.nameIn(endpoint) : scaleName(endpoint),
      call.target.name,
    );
  return reply(context, call, endpoint, cached, choice);
};

export const replaceScale: EndpointHandler = async (context, call, endpoint) => {
  const choice = negotiateScale(call, endpoint);
  const { object: sent, options } = await objectFromBody(call, scaleEndpoint(endpoint), "UpdateOptions");
  checkIdentity(sent.metadata, call, endpoint);
  call.audit?.setObjectMetadata(sent.metadata);
  call.audit?.requestObject(() => encodeJson(Scale, sent as never));
  const request = writeRequest(context, call, endpoint, {
    ...options,
    unrepresentable: isRefused(call, choice),
  });
  return reply(
    context,
    call,
    endpoint,
    await written(request, call.target.name, { change: () => sent }, sent.metadata.uid),
    choice,
  );
};

export const patchScale: EndpointHandler = async (context, call, endpoint) => {
  const type = patchType(call, endpoint.resource.strategy.custom);
  const applying = type === "application/apply-patch+yaml";
  const choice = negotiateScale(call, endpoint);
  const body = await readBody(call);
  recordPatch(call, body);
  const options = writeOptions(call, endpoint.resource.dialect, "PatchOptions", applying);
  const spoken = scaleEndpoint(endpoint);
  const change: ScaleChange = applying
    ? appliedScale(applyConfiguration(call, spoken, options, body), options)
    : patchedTree(call, spoken, options, { type, body });
  const request = writeRequest(context, call, endpoint, {
    ...options,
    unrepresentable: isRefused(call, choice),
  });
  return reply(context, call, endpoint, await written(request, call.target.name, change), choice);
};

const appliedScale = (configuration: Configuration, { force = false }: WriteOptions): ScaleChange => ({
  change: () => {
    const sent = configuration.read();
    configuration.validate();
    return sent;
  },
  applying: { force },
});

const replicasOf = (scale: Record<string, unknown>): number =>
  (scale["spec"] as { replicas?: number } | undefined)?.replicas ?? 0;

/** Validates a scale, which may omit the namespace. */
function checkScale(old: ApiObject, scale: ApiObject, replicas: number, dialect: Dialect): void {
  const { name = "", namespace } = old.metadata;
  const { metadata } = scale;
  const errors = [
    ...validateMeta({ ...metadata, namespace: metadata.namespace ?? namespace }, true, dnsSubdomain),
    ...validateFinalizersQualified(metadata.finalizers, dialect),
  ];
  if (replicas < 0)
    errors.push(invalidValue("spec.replicas", replicas, "must be greater than or equal to 0"));
  if (errors.length > 0) throw invalid({ group: Scale.kind.group, kind: "Scale" }, name, errors);
}

/** Checks that the UID in a scale, if any, is that of the existing object. */
function checkUid(endpoint: Endpoint, { metadata: { name = "", uid } }: ApiObject, scale: ApiObject): void {
  const { uid: meant } = scale.metadata;
  if (!meant || meant === uid) return;
  const { resource, group } = endpoint.resource.nameIn(endpoint);
  throw conflict(
    { group, resource: `${resource}/scale` },
    name,
    `Precondition failed: UID in precondition: ${meant}, UID in object meta: ${uid}`,
  );
}

/** Stores the replicas and field managers of a scale. */
async function written(
  request: WriteRequest,
  name: string,
  change: ScaleChange,
  uid?: string,
): Promise<CachedObject> {
  const { endpoint } = request;
  const view = new ScaleWrite(endpoint);
  const { object } = await update(request, name, {
    tracked: true,
    uid,
    view,
    transform: (found) => {
      view.ask(changeScale(request, found!, scaleOf(endpoint, found!, unset), change));
      return deepCopy(found!);
    },
  });
  return object;
}

/** The write of a scale as seen by admission. */
class ScaleWrite implements AdmissionView {
  readonly endpoint: Endpoint;
  readonly #scaled: Endpoint;
  #requested: { object: ApiObject; readonly old: ApiObject } | undefined;
  #owners: ChangedScale["parentOwners"] | undefined;

  constructor(scaled: Endpoint) {
    this.endpoint = scaleEndpoint(scaled);
    this.#scaled = scaled;
  }

  get requested(): AdmissionView["requested"] {
    return this.#requested;
  }

  ask({ object, old, parentOwners }: ChangedScale): void {
    this.#requested = { object, old };
    this.#owners = parentOwners;
  }

  show(object: ApiObject): ApiObject {
    return this.endpoint.fromHub(object);
  }

  settle(next: ApiObject, old: ApiObject): void {
    const { object: scale } = this.#requested!;
    this.#requested = undefined;
    const { resource } = this.#scaled;
    const view = resource.strategy.scale!;
    const replicas = replicasOf(scale as unknown as Record<string, unknown>);
    if (!view.ownRules) {
      checkScale(old, scale, replicas, resource.dialect);
      checkUid(this.#scaled, old, scale);
    } else if (replicas === unset)
      throw badRequest(`the spec replicas field "${pathOf(view)}" cannot be empty`);
    view.setReplicas(next, replicas);
    next.metadata.managedFields = this.#owners!(scale) as NonNullable<ObjectMeta["managedFields"]>;
    if (scale.metadata.resourceVersion === undefined) {
      if (!view.ownRules) delete next.metadata.resourceVersion;
    } else next.metadata.resourceVersion = scale.metadata.resourceVersion;
  }
}
