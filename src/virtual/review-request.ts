// Shared by endpoints whose objects are created to be answered and are never stored.
import { type AdmissionAttributes, type AdmissionChain, virtualAttributes } from "#admission";
import { PartialObjectMetadata, Status, inDialect } from "#api";
import { type Clock, badRequest, methodNotAllowed } from "#base";
import { type Dialect, apiVersionOf, groupName } from "#dialect";
import type { Reply } from "#http";
import { type ApiObject, type KindSchema, timestamp } from "#registry";
import {
  type JsonObject,
  applyDefaults,
  encodeEnvelope,
  encodeJson,
  encodeYaml,
  protobufCodec,
  updateManagers,
} from "#schema";
import {
  type ApiCall,
  type Choice,
  type WriteOptions,
  UnfitForm,
  bodyMedia,
  checkRoute,
  contentType,
  decodeObject,
  applyFieldValidation,
  negotiate,
  notServed,
  objectMedia,
  partialMetadata,
  readBody,
  writeOptions,
  shownOptions,
  withoutTable,
} from "#endpoints";

export interface VirtualContext {
  readonly dialect: Dialect;
  readonly clock: Clock;
  readonly admission: AdmissionChain;
}

/** Refuses anything but a POST to the exact path. */
export function onlyCreate(
  { target, method }: ApiCall,
  place: { readonly namespaced: boolean; readonly subresource: boolean },
): void {
  if (target.rest || target.named !== place.subresource || (target.namespace !== "") !== place.namespaced)
    throw notServed();
  if (method !== "POST") throw methodNotAllowed();
}

export interface DecodedRequest<T> {
  readonly object: T;
  readonly options: WriteOptions;
  readonly choice: Choice;
}

/**
 * Decodes the request object in any of the given versions (by default the first one), with defaults and
 * managed fields.
 */
export async function decodeRequest<T>(
  call: ApiCall,
  { dialect, clock }: VirtualContext,
  schema: KindSchema,
  versions: readonly string[] = [schema.kind.version],
): Promise<DecodedRequest<T>> {
  checkRoute(call.call, { produces: objectMedia(dialect) });
  const choice = negotiate(call.call, call.query, dialect, withoutTable);
  const media = bodyMedia(call.call, dialect);
  const bytes = await readBody(call);
  const options = writeOptions(call, dialect, "CreateOptions");
  const shape = inDialect(dialect, schema);
  const expected = versions.map((version) => ({
    apiVersion: apiVersionOf(dialect, { ...schema.kind, version }),
    kind: schema.kind.kind,
  }));
  const { decoded, kind } = decodeAsAny(expected, (each) => ({
    decoded: decodeObject(bytes, media, shape, each, dialect),
    kind: each,
  }));
  applyFieldValidation(call, decoded, options.fieldValidation, kind.kind);
  const object = decoded.value;
  applyDefaults(shape, object as never);
  call.audit?.setObjectMetadata(object.metadata);
  call.audit?.requestObject(() => encodeJson(shape, object as never));
  withoutSystemFields(call, object);
  sameNamespace(call, object);
  const owned = {
    schema: shape,
    apiVersion: kind.apiVersion,
    manager: options.fieldManager,
    subresource: call.target.subresource,
    now: timestamp(new Date(clock.now())),
  };
  const owners = updateManagers({ ...owned, live: undefined, next: object as unknown as JsonObject });
  if (owners.length)
    object.metadata.managedFields = owners as NonNullable<ApiObject["metadata"]["managedFields"]>;
  return { object: object as T, options, choice };
}

/** Decodes the body as the first matching kind; if none matches, the error of the first one is thrown. */
function decodeAsAny<Kind, Decoded>(kinds: readonly Kind[], decode: (kind: Kind) => Decoded): Decoded {
  let refusal: unknown;
  for (const kind of kinds) {
    try {
      return decode(kind);
    } catch (error) {
      refusal ??= error;
    }
  }
  throw refusal;
}

/** Clears metadata that only the server sets; bindings keep it, since it identifies the pod. */
function withoutSystemFields({ target }: ApiCall, { metadata }: ApiObject): void {
  if (target.subresource === "binding") return;
  delete metadata.uid;
  metadata.creationTimestamp = null;
  delete metadata.deletionTimestamp;
  delete metadata.deletionGracePeriodSeconds;
  delete metadata.selfLink;
}

function sameNamespace({ target }: ApiCall, { metadata }: ApiObject): void {
  if (!target.namespace) {
    delete metadata.namespace;
    return;
  }
  if (metadata.namespace && metadata.namespace !== target.namespace)
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  metadata.namespace = target.namespace;
}

/** Runs mutating and validating admission on the object. */
export async function admit(
  call: ApiCall,
  context: VirtualContext,
  schema: KindSchema,
  object: object,
  options: WriteOptions,
  /** The versions in which the kind is served. */
  versions: readonly string[] = [schema.kind.version],
): Promise<void> {
  const admission = admissionOf(call, context, schema, options, versions);
  await admission.mutate(object);
  await admission.validate(object);
}

export interface RequestAdmission {
  mutate(object: object): Promise<void>;
  validate(object: object): Promise<void>;
}

/** Returns mutating and validating admission separately, for requests validated in between. */
export function admissionOf(
  call: ApiCall,
  { dialect, admission }: VirtualContext,
  schema: KindSchema,
  options: WriteOptions,
  versions: readonly string[] = [schema.kind.version],
): RequestAdmission {
  const { target } = call;
  const kind = { group: groupName(dialect, schema.kind), kind: schema.kind.kind };
  const attributesOf = (object: object): AdmissionAttributes =>
    virtualAttributes({
      equivalents: versions.map((version) => ({
        resource: { group: target.group, version, resource: target.resource },
        kind: { ...kind, version },
      })),
      operation: "CREATE",
      resource: { group: target.group, version: target.version, resource: target.resource },
      kind: { ...kind, version: schema.kind.version },
      subresource: target.subresource,
      namespace: target.namespace,
      // On creation, the name may be given in the object only.
      name: target.name || ((object as ApiObject).metadata.name ?? ""),
      user: call.user!,
      dryRun: options.dryRun,
      object: object as Record<string, unknown>,
      oldObject: undefined,
      options: {
        kind: "CreateOptions",
        apiVersion: `${groupName(dialect, { group: "meta", branded: true })}/v1`,
        ...shownOptions(call),
      },
      warn: (text) => call.warn(text),
      annotate: (key, value, level) => call.annotate(key, value, level),
    });
  return {
    mutate: async (object) => await admission.mutate(attributesOf(object)),
    validate: async (object) => await admission.validate(attributesOf(object)),
  };
}

/** Encodes the response in the negotiated media type and form. */
export function encodeReply(
  status: number,
  object: object,
  schema: KindSchema,
  choice: Choice,
  { dialect }: VirtualContext,
): Reply {
  const headers = { "content-type": contentType(choice.media, dialect) };
  // A Status has no other form.
  if (choice.form === "object" || schema === (Status as KindSchema))
    return { status, headers, body: encoded(object, inDialect(dialect, schema), choice, dialect) };
  if (choice.form === "PartialObjectMetadataList")
    throw new UnfitForm(choice.form, `${schema.kind.group.split(".")[0]}.${schema.kind.kind}`);
  const metadata = partialMetadata(object as ApiObject, choice.formVersion);
  return { status, headers, body: encoded(metadata, PartialObjectMetadata, choice, dialect) };
}

function encoded(
  object: object,
  schema: KindSchema,
  { media, pretty }: Choice,
  dialect: Dialect,
): Uint8Array {
  if (media === "protobuf")
    return encodeEnvelope(
      object as ApiObject,
      protobufCodec(schema).encode(object as never),
      dialect.wire.protobufMagic,
    );
  const text = encodeJson(schema, object as never);
  if (media === "yaml") return Buffer.from(encodeYaml(schema, object as never));
  return Buffer.from(pretty ? JSON.stringify(JSON.parse(text), undefined, 2) : `${text}\n`);
}

/** The Status of a successful creation. */
export const created = (): object => ({
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: "Success",
  code: 201,
});
