// Creation of an object: fills in metadata, runs admission and the strategy, encodes once and writes once.
import {
  ApiError,
  type FieldError,
  alreadyExists,
  badRequest,
  flatText,
  invalid,
  newUuid,
  runSteps,
  timeout,
} from "#base";
import { validate } from "#schema";
import { type CachedObject, withoutRevision } from "#watchcache";
import { runMutatingAdmission, dropManagedFields, trackUpdate } from "./field-owners.ts";
import { generatedName, pathSegment } from "./names.ts";
import { newMetaErrors } from "./meta-checks.ts";
import { validateMeta } from "./object-meta.ts";
import { type WriteRequest, normalizeOwnerReferences, timestamp } from "./request.ts";
import { encodedIn, inStoreSpan } from "./store-span.ts";
import { WriteAttributes, writeContext } from "./write-context.ts";
import type { ApiObject, RequestContext, Strategy, PendingReservations } from "./strategy.ts";

const maxNameAttempts = 8;

interface CreateOptions {
  /** Managed fields have already been updated. */
  readonly tracked?: boolean;
  /** Throws when the client is not authorized to create the object. */
  readonly mayCreate?: (() => Promise<void>) | undefined;
  /** The create comes from an update or patch of an object that does not exist. */
  readonly byUpdate?: boolean;
}

/**
 * Stores a new object, given in the stored version with defaults applied, and returns the stored object. The
 * result of a dry run carries no revision. A generated name that is already taken is generated again, up to
 * {@link maxNameAttempts} attempts.
 */
export async function create(
  request: WriteRequest,
  object: ApiObject,
  options: CreateOptions = {},
): Promise<CachedObject> {
  const { metadata: meta } = object;
  if (meta.name || !meta.generateName) return await createOnce(request, object, options);
  const { managedFields } = meta;
  for (let left = maxNameAttempts; ; left--) {
    try {
      return await createOnce(request, object, options);
    } catch (error) {
      if (left === 1 || !(error instanceof ApiError && error.reason === "AlreadyExists")) throw error;
      delete object.metadata.name;
      if (!options.tracked) object.metadata.managedFields = managedFields;
    }
  }
}

async function createOnce(
  request: WriteRequest,
  object: ApiObject,
  options: CreateOptions,
): Promise<CachedObject> {
  const { resource } = request.endpoint;
  const ctx = writeContext(request);
  const meta = object.metadata;
  const { yieldBudget } = request;
  yieldBudget?.restart();
  clearServerFields(request, object, options);
  const tracking = options.tracked ? undefined : trackUpdate(request, undefined, object);
  if (tracking) await tracking;
  if (yieldBudget?.expired) await yieldBudget.yield();
  // The name is generated only after mutating admission, which sees an empty one.
  const attributes = new WriteAttributes(request, ctx, "CREATE", meta.name ?? "", object, undefined);
  await runMutatingAdmission(request, attributes);
  yieldBudget?.restart();
  const { strategy } = resource;
  await strategy.beforeCreate?.(ctx);
  fillServerFields(request, object, ctx);
  const share =
    strategy.reserve && !request.dryRun ? await strategy.reserve(object, undefined, ctx) : undefined;
  try {
    const write = (): Promise<CachedObject> =>
      validateAndStore(request, ctx, attributes, object, { mayCreate: options.mayCreate, share });
    const cached = await write().catch((error: unknown) => {
      if (options.tracked || !dropManagedFields(object, error)) throw error;
      return write();
    });
    share?.settle(cached.revision);
    return cached;
  } catch (error) {
    share?.settle();
    throw error;
  }
}

/** Validates a prepared object, runs validating admission and writes it. */
async function validateAndStore(
  request: WriteRequest,
  ctx: RequestContext,
  attributes: WriteAttributes,
  object: ApiObject,
  {
    mayCreate,
    share,
  }: Pick<CreateOptions, "mayCreate"> & { readonly share: PendingReservations | undefined },
): Promise<CachedObject> {
  const { resource } = request.endpoint;
  const { metadata: meta } = object;
  await check(request, object, ctx);
  await mayCreate?.();
  attributes.name = meta.name!;
  await request.admission.validate(attributes);
  // The response carries the object as a later read returns it.
  resource.strategy.restore?.(object);
  const key = resource.keyOf(meta.namespace ?? "", meta.name!);
  const present = request.dryRun ? await resource.source.get(key, { at: "latest" }) : undefined;
  if (present) throw alreadyExistsError(request, meta, present);
  if (!request.dryRun && isNonZeroVersion(meta.resourceVersion ?? ""))
    throw badRequest("resourceVersion should not be set on objects to be created");
  if (request.yieldBudget?.expired) await request.yieldBudget.yield();
  const encode = () => resource.encode(object, { anySize: request.dryRun });
  if (request.dryRun)
    return withoutRevision(await resource.dryRunObject(encode(), key, 0), meta.resourceVersion);
  const ttlSeconds = resource.strategy.ttlSeconds?.(object, ctx);
  const { consumes } = share ?? {};
  const { outcome, object: written } = await inStoreSpan(request, "Create", key, async (span) => {
    const encoded = encodedIn(span, encode);
    if (request.yieldBudget?.expired) await request.yieldBudget.yield();
    return await resource.writeObject(encoded, {
      key,
      expect: "absent",
      ...(ttlSeconds !== undefined && { ttlSeconds }),
      ...(consumes && { consumes }),
    });
  });
  if (!outcome.done && !outcome.current && consumes)
    throw timeout("what was reserved for the object was released before it was written; try again", 1);
  if (!outcome.done) {
    // The name is also taken when the stored object cannot be decoded.
    const taken = await resource.source.get(key, { at: "any" }).catch(() => undefined);
    throw alreadyExistsError(request, meta, taken);
  }
  return written!;
}

/**
 * Reports whether the text is a version other than zero. Zero and text that is not a number count as unset,
 * as in kube-apiserver.
 */
const isNonZeroVersion = (text: string): boolean =>
  /^\d{1,20}$/.test(text) && BigInt.asUintN(64, BigInt(text)) !== 0n;

function assignName(meta: ApiObject["metadata"], { plainGeneratedNames: plain }: Strategy): void {
  if (!meta.name && meta.generateName)
    meta.name = plain ? meta.generateName : generatedName(meta.generateName);
}

/**
 * Clears fields that only the server may set. The deletion timestamp is kept when an update or apply creates
 * the object, as in kube-apiserver.
 */
function clearServerFields(request: WriteRequest, object: ApiObject, { byUpdate }: CreateOptions): void {
  const meta = object.metadata;
  fillNamespace(request, object);
  delete meta.uid;
  if (!byUpdate) {
    delete meta.deletionTimestamp;
    delete meta.deletionGracePeriodSeconds;
  }
  delete meta.selfLink;
  normalizeOwnerReferences(request, object);
}

/** Fills in the fields that the server sets on a new object, after mutating admission. */
function fillServerFields(request: WriteRequest, object: ApiObject, ctx: RequestContext): void {
  const { strategy } = request.endpoint.resource;
  const meta = object.metadata;
  normalizeOwnerReferences(request, object, "admission");
  fillNamespace(request, object);
  assignName(meta, strategy);
  meta.uid = newUuid();
  meta.creationTimestamp = timestamp(request.now);
  if (strategy.generation) meta.generation = 1;
  if (strategy.status === "cleared") delete (object as unknown as Record<string, unknown>)["status"];
  strategy.prepareForCreate?.(object, ctx);
}

/** Throws all validation errors of the object, or sends its warnings to the client. */
async function check(request: WriteRequest, object: ApiObject, ctx: RequestContext): Promise<void> {
  const { endpoint, yieldBudget } = request;
  const { resource } = endpoint;
  const { strategy } = resource;
  const meta = object.metadata;
  const refuse = (found: readonly FieldError[]): ApiError =>
    invalid({ group: strategy.errorGroup ?? endpoint.group, kind: endpoint.kind }, meta.name ?? "", found);
  const denied = strategy.precheck?.(object, undefined, ctx) ?? [];
  if (denied.length > 0) throw refuse(denied);
  const found: (readonly FieldError[])[] = [];
  for (let times = strategy.metaChecks?.onCreate ?? 1; times > 0; times--)
    found.push(newMetaErrors(request, object));
  found.push(validate(resource.hub, object));
  if (yieldBudget?.expired) await yieldBudget.yield();
  found.push(strategy.validate?.(object, ctx) ?? []);
  const steps = strategy.validateInSteps?.(object, undefined, ctx, found.flat());
  if (steps) found.push(await runSteps(steps));
  if (found.every(({ length }) => length === 0))
    found.push(validateMeta(meta, resource.namespaced, pathSegment));
  const errors = found.flat();
  if (errors.length > 0) throw refuse(errors);
  for (const text of strategy.warnings?.(object, undefined, ctx) ?? []) request.warn(text);
  if (yieldBudget?.expired) await yieldBudget.yield();
}

/** Returns the error for a name that is taken; it says so if the existing object is being deleted. */
function alreadyExistsError(
  { endpoint }: WriteRequest,
  meta: ApiObject["metadata"],
  present: CachedObject | undefined,
): ApiError {
  const { resource } = endpoint;
  const { code, reason, message, details } = alreadyExists(resource.nameIn(endpoint), meta.name!);
  const deletingPrefix =
    present && resource.objectOf(present).metadata.deletionTimestamp ? "object is being deleted: " : "";
  if (!meta.generateName) return new ApiError(code, reason, `${deletingPrefix}${message}`, details);
  return new ApiError(
    code,
    reason,
    `${deletingPrefix}${message}, the server was not able to generate a unique name for the object`,
    { ...details, retryAfterSeconds: 1 },
  );
}

/** Sets the namespace of the request path in the object. A different namespace in the object is refused. */
export function fillNamespace(request: WriteRequest, object: ApiObject): void {
  const { namespaced } = request.endpoint.resource;
  const wanted = namespaced ? request.namespace : "";
  const given = object.metadata.namespace ?? "";
  if (given === wanted) return;
  if (given !== "" && namespaced)
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  if (wanted === "") delete object.metadata.namespace;
  else object.metadata.namespace = flatText(wanted);
}
