// Update of an object: read, transform, validate, and write against the revision read; a conflict restarts
// it.
import {
  ApiError,
  type FieldError,
  LiteralValue,
  badRequest,
  conflict,
  invalid,
  invalidValue,
  notFound,
  runSteps,
} from "#base";
import { type JsonObject, keepTimes, validate } from "#schema";
import { isDeepStrictEqual } from "node:util";
import type { Span } from "#tracing";
import { type CachedObject, sameContent } from "#watchcache";
import { create, fillNamespace } from "./create.ts";
import { clearEmptyLists } from "./empty-lists.ts";
import { runMutatingAdmission, dropManagedFields, trackUpdate } from "./field-owners.ts";
import { pathSegment } from "./names.ts";
import { newMetaErrors, repeatedMetaErrors } from "./meta-checks.ts";
import { validateMeta, validateMetaUpdate } from "./object-meta.ts";
import { type WriteRequest, normalizeOwnerReferences } from "./request.ts";
import { encodedIn, inStoreSpan } from "./store-span.ts";
import { type AdmissionView, WriteAttributes, writeContext } from "./write-context.ts";
import type { ApiObject, RequestContext, PendingReservations } from "./strategy.ts";

export interface ObjectUpdate {
  /**
   * Returns the new object in the stored version, made from a copy of the current one (undefined if there is
   * none).
   */
  transform(old: ApiObject | undefined): ApiObject | Promise<ApiObject>;
  /**
   * The transform leaves its argument unmodified, and its result shares only managed fields with it, so that
   * no separate copy is needed.
   */
  readonly pure?: boolean;
  /** The transform has already updated managed fields (server-side apply). */
  readonly tracked?: boolean;
  /** Creates the object if it does not exist. */
  readonly createIfAbsent?: boolean;
  /**
   * Called before an object is created this way; throws when the client may update such objects but not
   * create them.
   */
  readonly mayCreate?: () => Promise<void>;
  /** Expected UID, if the client sent one. */
  readonly uid?: string | undefined;
  /** The object that admission sees instead of the stored one. */
  readonly view?: AdmissionView;
}

export interface UpdateResult {
  readonly object: CachedObject;
  readonly created: boolean;
}

const maxAttempts = 100;

export async function update(
  request: WriteRequest,
  name: string,
  change: ObjectUpdate,
): Promise<UpdateResult> {
  const key = request.endpoint.resource.keyOf(request.namespace, name);
  if (request.dryRun) return await attemptUpdates(request, name, key, change);
  return await inStoreSpan(request, "GuaranteedUpdate", key, (span) =>
    attemptUpdates(request, name, key, change, span),
  );
}

async function attemptUpdates(
  request: WriteRequest,
  name: string,
  key: string,
  change: ObjectUpdate,
  span?: Span,
): Promise<UpdateResult> {
  const { endpoint, yieldBudget } = request;
  const { resource } = endpoint;
  for (let tries = 1; ; tries++) {
    const cached = await resource.source.get(key, { at: "latest" });
    if (!cached) {
      if (change.uid)
        throw conflict(
          resource.nameIn(endpoint),
          name,
          `Precondition failed: UID in precondition: ${change.uid}, UID in object meta: `,
        );
      if (!change.createIfAbsent || request.subresource) throw notFound(resource.nameIn(endpoint), name);
      const object = await change.transform(undefined);
      if (!isUnconditional(object)) checkVersion(object);
      // The resource version of a replacement belongs to an object that no longer exists and has no meaning
      // for the new one.
      delete object.metadata.resourceVersion;
      const made = await create(request, object, {
        tracked: change.tracked ?? false,
        mayCreate: change.mayCreate,
        byUpdate: true,
      }).catch(ignoreAlreadyExists);
      if (made) return { object: made, created: true };
      continue;
    }
    span?.step("initial value restored");
    yieldBudget?.account(cached.json.length);
    // Reading may take a whole slice by itself, and the time this turn has already used is unknown.
    if (yieldBudget?.isLarge) await yieldBudget.yield();
    const copy = resource.copiesOf(cached);
    const old = copy();
    if (change.uid && change.uid !== old.metadata.uid) {
      throw conflict(
        resource.nameIn(endpoint),
        name,
        `Precondition failed: UID in precondition: ${change.uid}, UID in object meta: ${old.metadata.uid}`,
      );
    }
    const object = await change.transform(change.pure ? old : copy());
    if (yieldBudget?.expired) await yieldBudget.yield();
    const reserved: Reserved = { revision: String(cached.revision) };
    let written: CachedObject | undefined;
    try {
      const ctx = writeContext(request);
      const changed = await prepareUpdate(request, ctx, name, object, old, change, reserved);
      if (yieldBudget?.expired) await yieldBudget.yield();
      const write = (): Promise<CachedObject | undefined> =>
        store(request, ctx, key, { next: changed, old, cached, share: reserved.share, span });
      written = await write().catch((error: unknown) => {
        if (change.tracked || !dropManagedFields(changed, error)) throw error;
        return write();
      });
    } finally {
      reserved.share?.settle(written?.revision);
    }
    if (written) return { object: written, created: false };
    if (tries >= maxAttempts) throw resource.changedSince(endpoint, name);
  }
}

/** Ignores that another writer has created the object in the meantime: the update is retried. */
function ignoreAlreadyExists(error: unknown): undefined {
  if (!(error instanceof ApiError && error.reason === "AlreadyExists")) throw error;
}

const noVersion = new LiteralValue("0x0");

/**
 * Checks the client's resource version, which mutating webhooks may have changed, against the stored
 * revision.
 */
function checkRevision({ endpoint }: WriteRequest, name: string, object: ApiObject, revision: string): void {
  const { resource } = endpoint;
  if (!isUnconditional(object)) {
    if (object.metadata.resourceVersion === revision) return;
    checkVersion(object);
    throw resource.changedSince(endpoint, name);
  }
  if (!resource.strategy.conditionalUpdate) return;
  // The reference names the resource where the kind belongs; clients rely on it.
  throw invalid({ group: endpoint.group, kind: resource.strategy.resource }, name, [
    invalidValue("metadata.resourceVersion", noVersion, "must be specified for an update"),
  ]);
}

function checkVersion({ metadata: { resourceVersion } }: ApiObject): void {
  if (!/^\d+$/.test(resourceVersion!))
    throw badRequest(`metadata.resourceVersion: Invalid value: "${resourceVersion}": must be a number`);
}

const isUnconditional = ({ metadata }: ApiObject): boolean =>
  metadata.resourceVersion === undefined ||
  metadata.resourceVersion === "" ||
  metadata.resourceVersion === "0";

/** State of the update that outlives a failed attempt to prepare it. */
interface Reserved {
  share?: PendingReservations;
  /** The stored revision; set in the object once mutating admission has seen the version that was sent. */
  readonly revision: string;
}

async function prepareUpdate(
  request: WriteRequest,
  ctx: RequestContext,
  name: string,
  sent: ApiObject,
  old: ApiObject,
  change: ObjectUpdate,
  reserved: Reserved,
): Promise<ApiObject> {
  const { endpoint } = request;
  const { resource } = endpoint;
  const { strategy } = resource;
  let object = sent;
  fillNamespace(request, object);
  const part = request.subresource ? strategy.subresources?.[request.subresource] : undefined;
  const { yieldBudget } = request;
  const tracking = change.tracked ? undefined : trackUpdate(request, old, object);
  if (tracking) await tracking;
  if (yieldBudget?.expired) await yieldBudget.yield();
  const attributes = new WriteAttributes(request, ctx, "UPDATE", name, object, old, change.view);
  await runMutatingAdmission(request, attributes);
  change.view?.settle(object, old);
  checkRevision(request, name, object, reserved.revision);
  object.metadata.resourceVersion = reserved.revision;
  fillNamespace(request, object);
  yieldBudget?.restart();
  normalizeOwnerReferences(request, object, "admission");
  // Empty lists as in the stored object, to avoid spurious changes.
  clearEmptyLists(resource.hub, object);
  keepGeneration(object, old);
  if (part) object = part.merge(object, old, ctx);
  else {
    if (strategy.status) keepStatus(object, old);
    strategy.prepareForUpdate?.(object, old, ctx);
    const share = strategy.reserve && !request.dryRun ? await strategy.reserve(object, old, ctx) : undefined;
    if (share) reserved.share = share;
    const denied = strategy.precheck?.(object, old, ctx);
    if (denied && denied.length > 0)
      throw invalid({ group: strategy.errorGroup ?? endpoint.group, kind: endpoint.kind }, name, denied);
    if (strategy.generation && specChanged(object, old, strategy.generationCountsStatus))
      object.metadata.generation = (old.metadata.generation ?? 0) + 1;
  }
  const { metadata: meta } = object;
  meta.uid ||= old.metadata.uid;
  meta.creationTimestamp = old.metadata.creationTimestamp;
  if (old.metadata.deletionTimestamp) meta.deletionTimestamp = old.metadata.deletionTimestamp;
  if (old.metadata.deletionGracePeriodSeconds !== undefined)
    meta.deletionGracePeriodSeconds ??= old.metadata.deletionGracePeriodSeconds;
  if (!request.dryRun) delete meta.selfLink;
  if (yieldBudget?.expired) await yieldBudget.yield();
  const errors: FieldError[] = [
    ...validateMeta(meta, resource.namespaced, pathSegment),
    ...validateMetaUpdate(meta, old.metadata),
    ...(part
      ? [
          ...repeatedMetaErrors(request, object, old, part.metaChecks),
          ...(part.validate?.(object, old, ctx) ?? []),
        ]
      : ownUpdateErrors(request, ctx, object, old)),
  ];
  const steps = (part ?? strategy).validateInSteps?.(object, old, ctx, errors);
  if (steps) errors.push(...(await runSteps(steps)));
  if (errors.length > 0)
    throw invalid({ group: strategy.errorGroup ?? endpoint.group, kind: endpoint.kind }, name, errors);
  // Subresources are written by programs, which get no warnings about the rest of the object.
  if (!part) for (const text of strategy.warnings?.(object, old, ctx) ?? []) request.warn(text);
  if (yieldBudget?.expired) await yieldBudget.yield();
  attributes.object = object as unknown as Record<string, unknown>;
  await request.admission.validate(attributes);
  // The merged object may hold nulls that a read would not return.
  if (change.tracked && strategy.custom) strategy.restore?.(object);
  return object;
}

function ownUpdateErrors(
  request: WriteRequest,
  ctx: RequestContext,
  object: ApiObject,
  old: ApiObject,
): FieldError[] {
  const { resource } = request.endpoint;
  const { strategy } = resource;
  const again = repeatedMetaErrors(request, object, old, strategy.metaChecks);
  if (strategy.metaChecks?.wholeTwice) {
    const whole = [...newMetaErrors(request, object), ...(strategy.validate?.(object, ctx) ?? [])];
    return [...whole, ...whole, ...again, ...(strategy.validateUpdate?.(object, old, ctx) ?? [])];
  }
  if (strategy.validateUpdate) return [...again, ...strategy.validateUpdate(object, old, ctx)];
  if (strategy.validateInSteps) return again;
  return [...again, ...validate(resource.hub, object), ...(strategy.validate?.(object, ctx) ?? [])];
}

// No field with an undefined value: the object may turn out to be equal to the stored one.
function keepGeneration({ metadata }: ApiObject, old: ApiObject): void {
  if (old.metadata.generation === undefined) delete metadata.generation;
  else metadata.generation = old.metadata.generation;
}

function keepStatus(object: ApiObject & { status?: unknown }, old: ApiObject & { status?: unknown }): void {
  if (old.status === undefined) delete object.status;
  else object.status = old.status;
}

function specChanged(object: ApiObject, old: ApiObject, withStatus = false): boolean {
  const rest = ({ metadata: _metadata, status, ...fields }: Record<string, unknown>): unknown =>
    withStatus ? { ...fields, status } : fields;
  return !isDeepStrictEqual(
    rest(object as unknown as Record<string, unknown>),
    rest(old as unknown as Record<string, unknown>),
  );
}

interface Change {
  readonly next: ApiObject;
  readonly old: ApiObject;
  readonly cached: CachedObject;
  readonly share: PendingReservations | undefined;
  readonly span: Span | undefined;
}

/**
 * Writes the change; returns undefined on a conflict with another writer. An object whose last finalizer was
 * removed is deleted instead.
 */
async function store(
  request: WriteRequest,
  ctx: RequestContext,
  key: string,
  { next, old, cached, share, span }: Change,
): Promise<CachedObject | undefined> {
  const { resource } = request.endpoint;
  const { timesCompared } = request.settings;
  const began = timesCompared ? performance.now() : 0;
  const object = keepTimes(
    old as unknown as JsonObject,
    next as unknown as JsonObject,
    timesCompared && ((outcome) => timesCompared(outcome, (performance.now() - began) / 1000)),
  ) as unknown as ApiObject;
  const { metadata: meta } = object;
  const removes =
    Boolean(meta.deletionTimestamp) &&
    !meta.finalizers?.length &&
    (meta.deletionGracePeriodSeconds ?? 0) === 0 &&
    Boolean(old.metadata.deletionTimestamp) &&
    !resource.strategy.deletionBlocked?.(object);
  const encoded = encodedIn(span, () => resource.encode(object, { anySize: request.dryRun || removes }));
  if (request.yieldBudget?.expired) await request.yieldBudget.yield();
  if (removes) {
    const last = encoded.hold(cached.revision);
    if (request.dryRun) return last;
    const outcome = await resource.write({ key, value: null, expect: cached.revision });
    return outcome.done ? last : undefined;
  }
  if (request.dryRun) return await resource.dryRunObject(encoded, key, cached.revision);
  if (sameContent(cached, encoded.json) && !(await resource.isStale(key, encoded)))
    return encoded.hold(cached.revision);
  const ttlSeconds = resource.strategy.ttlSeconds?.(object, ctx);
  const { object: written } = await resource.writeObject(encoded, {
    key,
    expect: cached.revision,
    ...(ttlSeconds !== undefined && { ttlSeconds }),
    ...(share && { consumes: share.consumes }),
  });
  if (written) resource.strategy.updated?.(object, old, ctx);
  return written;
}
