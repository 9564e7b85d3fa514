// Deletion of an object: immediately, after a grace period, or when the last finalizer is removed.
import type { DeleteOptions, ObjectMeta } from "#api";
import { type FieldError, conflict, invalid, invalidValue, notFound, notSupported } from "#base";
import { groupName } from "#dialect";
import { type CachedObject, atRevision, uidOf } from "#watchcache";
import { foregroundFinalizer, orphanFinalizer } from "./object-meta.ts";
import { type WriteRequest, timestamp } from "./request.ts";
import { inStoreSpan } from "./store-span.ts";
import { WriteAttributes, writeContext } from "./write-context.ts";
import type { ApiObject, RequestContext, Strategy } from "./strategy.ts";

export interface Removal {
  /** False if the object is only marked and is deleted when its grace period or its finalizers run out. */
  readonly deleted: boolean;
  /** Whether the object is returned although it is deleted: in a dry run that would have changed it first. */
  readonly shown?: boolean;
  /** The last state of the object. */
  held(): CachedObject;
  readonly uid: string;
}

const policies = ["Foreground", "Background", "Orphan"];

export function validateDeleteOptions(request: WriteRequest, options: Partial<DeleteOptions>): void {
  const errors: FieldError[] = [];
  if (options.orphanDependents !== undefined && options.propagationPolicy !== undefined) {
    errors.push(
      invalidValue(
        "propagationPolicy",
        options.propagationPolicy,
        "orphanDependents and deletionPropagation cannot be both set",
      ),
    );
  }
  if (options.propagationPolicy !== undefined && !policies.includes(options.propagationPolicy)) {
    errors.push(notSupported("propagationPolicy", options.propagationPolicy, [...policies, "nil"]));
  }
  if (options.dryRun?.some((value) => value !== "All"))
    errors.push(notSupported("dryRun", options.dryRun, ["All"]));
  if (errors.length > 0)
    throw invalid(
      {
        group: groupName(request.endpoint.resource.dialect, { group: "meta", branded: true }),
        kind: "DeleteOptions",
      },
      "",
      errors,
    );
  const { warning } = request.endpoint.resource.strategy.orphansDependents ?? {};
  if (warning && options.orphanDependents === undefined && options.propagationPolicy === undefined)
    request.warn(warning);
}

export async function remove(
  request: WriteRequest,
  name: string,
  options: Partial<DeleteOptions>,
): Promise<Removal> {
  const { endpoint } = request;
  const { resource } = endpoint;
  const key = resource.keyOf(request.namespace, name);
  for (;;) {
    const cached = await resource.source.get(key, { at: "latest" });
    if (!cached) throw notFound(resource.nameIn(endpoint), name);
    const uid = uidOf(cached);
    checkPreconditions(request, name, cached, uid, options);
    // Most objects can be deleted without being parsed.
    let parsed: ApiObject | undefined;
    const old = (): ApiObject => (parsed ??= resource.objectOf(cached));
    const ctx = writeContext(request);
    if (isAlreadyDeleting(resource.strategy, old, options))
      return { deleted: false, held: () => cached, uid };
    // For a collection the options are shown as the client sent them.
    const shown = request.unnamed
      ? request
      : { ...request, options: shownOptions(request, ctx, { uid, old, options }) };
    const named = request.unnamed ? "" : name;
    const attributes = new WriteAttributes(shown, ctx, "DELETE", named, undefined, old);
    const admit = async (): Promise<void> => {
      await request.admission.mutate(attributes);
      await request.admission.validate(attributes);
    };
    await admit();
    const marked = deletesImmediately(request, cached, options)
      ? "delete now"
      : mark(request, ctx, old(), options);
    if (marked !== "mark, then delete") request.admitted?.();
    if (marked === "delete now") {
      if (request.dryRun) return { deleted: true, held: () => cached, uid };
      const outcome = await resource.write({ key, value: null, expect: cached.revision });
      if (outcome.done) return { deleted: true, held: () => atRevision(cached, outcome.revision), uid };
    } else if (marked === "mark, then delete") {
      const encoded = resource.encode(old(), { anySize: true });
      if (request.dryRun)
        return { deleted: true, shown: true, held: () => encoded.hold(cached.revision), uid };
      const { outcome } = await inStoreSpan(request, "GuaranteedUpdate", key, () =>
        resource.writeObject(encoded, { key, expect: cached.revision }),
      );
      if (!outcome.done) continue;
      // Admission sees both writes, as in the reference.
      await admit();
      const end = await resource.write({ key, value: null, expect: outcome.revision });
      if (end.done || !end.current)
        return { deleted: true, held: () => encoded.hold(end.done ? end.revision : outcome.revision), uid };
    } else if (marked === "already under way") return { deleted: false, held: () => cached, uid };
    else {
      const encoded = resource.encode(marked, { anySize: request.dryRun });
      if (request.dryRun) return { deleted: false, held: () => encoded.hold(cached.revision), uid };
      const { object } = await inStoreSpan(request, "GuaranteedUpdate", key, () =>
        resource.writeObject(encoded, { key, expect: cached.revision }),
      );
      if (object) return { deleted: false, held: () => object, uid };
    }
  }
}

/** Returns the requested grace period in seconds. */
const requestedGrace = ({ gracePeriodSeconds }: Partial<DeleteOptions>): number | undefined =>
  gracePeriodSeconds !== undefined && gracePeriodSeconds < 0 ? 1 : gracePeriodSeconds;

/**
 * Reports whether the object is already being deleted: during its grace period only a shorter one has an
 * effect.
 */
function isAlreadyDeleting(
  strategy: Strategy,
  old: () => ApiObject,
  options: Partial<DeleteOptions>,
): boolean {
  if (!strategy.graceSeconds && !strategy.deletionBlocked) return false;
  const { deletionTimestamp, deletionGracePeriodSeconds: left } = old().metadata;
  if (!deletionTimestamp) return false;
  if (strategy.deletionBlocked?.(old())) return true;
  return Boolean(strategy.graceSeconds && left) && (requestedGrace(options) ?? Infinity) >= left!;
}

interface Deletion {
  readonly uid: string;
  readonly old: () => ApiObject;
  readonly options: Partial<DeleteOptions>;
}

/**
 * Returns the options as shown to admission: with the effective grace period and, for some kinds, the
 * object's UID.
 */
function shownOptions(
  request: WriteRequest,
  ctx: RequestContext,
  { uid, old, options }: Deletion,
): WriteRequest["options"] {
  const { deletedByUid, graceSeconds } = request.endpoint.resource.strategy;
  const requested = requestedGrace(options);
  const begins = graceSeconds && !old().metadata.deletionTimestamp;
  const given = begins ? (graceSeconds(old(), requested, ctx) ?? requested) : requested;
  return () => {
    const sent = request.options();
    const preconditions = sent["preconditions"] as Record<string, unknown> | undefined;
    return {
      ...sent,
      ...(given !== undefined && { gracePeriodSeconds: given }),
      ...(deletedByUid && { preconditions: { uid, ...preconditions } }),
    };
  };
}

/** Reports from the encoded bytes whether nothing delays the deletion; mark() would decide the same. */
function deletesImmediately(
  request: WriteRequest,
  { line }: CachedObject,
  options: Partial<DeleteOptions>,
): boolean {
  const { strategy } = request.endpoint.resource;
  if (strategy.beginDeletion || strategy.deletionBlocked || strategy.graceSeconds) return false;
  if (line.includes(finalizersKey) || line.includes(deletionKey)) return false;
  return finalizersFor(emptyMeta, options, request).length === 0;
}

const finalizersKey = Buffer.from('"finalizers":');
const deletionKey = Buffer.from('"deletionTimestamp":');
const emptyMeta = {} as ObjectMeta;

function checkPreconditions(
  request: WriteRequest,
  name: string,
  cached: CachedObject,
  found: string,
  options: Partial<DeleteOptions>,
): void {
  const { uid, resourceVersion } = options.preconditions ?? {};
  const inSteps = request.endpoint.resource.strategy.beginDeletion !== undefined;
  const failed = (what: string, requested: string, is: string, maybe: string): Error =>
    conflict(
      kindAsResource(request),
      name,
      inSteps
        ? `Precondition failed: ${what} in precondition: ${requested}, ${what} in object meta: ${is}`
        : `the ${what} in the precondition (${requested}) does not match the ${what} in record (${is}). The object might have been ${maybe}`,
    );
  if (uid !== undefined && uid !== found) throw failed("UID", uid, found, "deleted and then recreated");
  const revision = String(cached.revision);
  if (resourceVersion !== undefined && resourceVersion !== revision)
    throw failed("ResourceVersion", resourceVersion, revision, "modified");
}

// The reference names the kind instead of the resource, except for kinds that are deleted in two steps;
// clients rely on it.
const kindAsResource = ({
  endpoint: { group, resource },
}: WriteRequest): { group: string; resource: string } => ({
  group: resource.strategy.errorGroup ?? group,
  resource: resource.strategy.beginDeletion ? resource.strategy.resource : resource.hub.kind.kind,
});

/**
 * Decides what happens to the object: it can be deleted, its deletion is in progress already, or it is marked
 * (in place). Kinds with a grace period are marked even when theirs is zero: watchers see the mark, then the
 * deletion.
 */
function mark(
  request: WriteRequest,
  ctx: RequestContext,
  object: ApiObject,
  options: Partial<DeleteOptions>,
): "delete now" | "mark, then delete" | "already under way" | ApiObject {
  const { strategy } = request.endpoint.resource;
  const meta = object.metadata;
  const requested = requestedGrace(options);
  const finalizers = finalizersFor(meta, options, request);
  const finalizersChanged = finalizers.join() !== (meta.finalizers ?? []).join();
  if (strategy.beginDeletion && !meta.deletionTimestamp) {
    meta.deletionTimestamp = timestamp(request.now);
    strategy.beginDeletion(object, ctx, finalizersChanged ? finalizers : meta.finalizers);
    return object;
  }
  let touched = finalizersChanged;
  let waits = finalizers.length > 0;
  const grace = strategy.graceSeconds ? markGraceful() : undefined;
  if (grace === "set") {
    touched = true;
    waits ||= (meta.deletionGracePeriodSeconds ?? 0) > 0;
  }
  if (!waits) {
    if (finalizersChanged) delete meta.finalizers;
    return grace === "set" || finalizersChanged ? "mark, then delete" : "delete now";
  }
  if (!meta.deletionTimestamp) {
    meta.deletionTimestamp = timestamp(request.now);
    meta.deletionGracePeriodSeconds = 0;
    if ((meta.generation ?? 0) > 0) meta.generation = meta.generation! + 1;
    touched = true;
  } else if (grace === undefined && meta.deletionGracePeriodSeconds !== 0) {
    meta.deletionGracePeriodSeconds = 0;
    touched = true;
  }
  if (!touched) return "already under way";
  if (finalizers.length > 0) meta.finalizers = finalizers;
  else delete meta.finalizers;
  return object;

  function markGraceful(): "set" | undefined {
    if (meta.deletionTimestamp) {
      if (!meta.deletionGracePeriodSeconds || requested === undefined) return undefined;
      const began = Date.parse(meta.deletionTimestamp) - meta.deletionGracePeriodSeconds * 1000;
      meta.deletionTimestamp = timestamp(new Date(began + requested * 1000));
      meta.deletionGracePeriodSeconds = requested;
      return "set";
    }
    const seconds = strategy.graceSeconds!(object, requested, ctx);
    if (seconds === undefined) return undefined;
    meta.deletionTimestamp = timestamp(new Date(request.now.getTime() + seconds * 1000));
    meta.deletionGracePeriodSeconds = seconds;
    if ((meta.generation ?? 0) > 0) meta.generation = meta.generation! + 1;
    return "set";
  }
}

/**
 * Returns the finalizers that a deletion leaves, by its propagation policy: the requested one, else the one
 * of the existing finalizers, else the default of the kind.
 */
function finalizersFor(
  meta: ObjectMeta,
  options: Partial<DeleteOptions>,
  { endpoint, settings }: WriteRequest,
): string[] {
  const { strategy } = endpoint.resource;
  const current = [...(meta.finalizers ?? [])];
  if (settings.garbageCollection === false) return current;
  const others = current.filter((item) => item !== orphanFinalizer && item !== foregroundFinalizer);
  const wanted = strategy.withoutDependents
    ? undefined
    : wantedFinalizer(current, policyOf(meta, options, strategy), strategy);
  if (wanted === undefined && others.length === current.length) return current;
  const next = wanted === undefined ? others : [...others, wanted];
  return new Set(next).symmetricDifference(new Set(current)).size === 0 ? current : next;
}

/**
 * Maps the deprecated orphanDependents option: dependents that are not orphaned are deleted in the
 * background, or in the foreground for kinds that are deleted in two steps.
 */
function policyOf(
  meta: ObjectMeta,
  { orphanDependents, propagationPolicy }: Partial<DeleteOptions>,
  strategy: Strategy,
): string | undefined {
  if (orphanDependents === undefined) return propagationPolicy;
  if (orphanDependents) return "Orphan";
  return strategy.beginDeletion && !meta.deletionTimestamp ? "Foreground" : "Background";
}

function wantedFinalizer(
  current: readonly string[],
  policy: string | undefined,
  strategy: Strategy,
): string | undefined {
  if (policy !== undefined)
    return policy === "Orphan" ? orphanFinalizer : policy === "Foreground" ? foregroundFinalizer : undefined;
  return (
    current.find((item) => item === orphanFinalizer || item === foregroundFinalizer) ??
    (strategy.orphansDependents ? orphanFinalizer : undefined)
  );
}
