// Field ownership: tracked in metadata.managedFields on every write, and evaluated by server-side apply.
import { ApiError, badRequest, conflict, deepCopy } from "#base";
import { commandLineManagers } from "#dialect";
import { Scale } from "#api";
import {
  type Applied,
  type Conflict,
  DecodeError,
  type FieldPath,
  type FieldSet,
  type JsonObject,
  type ManagedFieldsEntry,
  PatchError,
  apply,
  applySteps,
  checkManagers,
  conflictMessage,
  converterMessage,
  fieldElement,
  fromJsonValue,
  fromScaleManagers,
  toScaleManagers,
  updateManagers,
  withManagers,
} from "#schema";
import { type ConvertBetween, type ConvertObject, withConversions } from "./conversions.ts";
import { defaultedMerge } from "./defaulting.ts";
import { withoutEmpty } from "./empty-lists.ts";
import { type WriteRequest, timestamp } from "./request.ts";
import type { Endpoint } from "./resource.ts";
import type { ApiObject } from "./strategy.ts";
import type { WriteAttributes } from "./write-context.ts";

/**
 * Updates managed fields for a write other than an apply: sets or clears `metadata.managedFields` of the new
 * object. Returns a promise only where a webhook converts between versions.
 */
export function trackUpdate(
  request: WriteRequest,
  old: ApiObject | undefined,
  next: ApiObject,
): Promise<void> | undefined {
  // An empty list resets the managers, but for a custom resource it is read as absent.
  if (request.endpoint.resource.strategy.custom && next.metadata.managedFields?.length === 0)
    delete next.metadata.managedFields;
  const update = {
    live: old && inVersion(request, old),
    next: withoutEmpty(request.endpoint.schema, inVersion(request, next)),
  };
  const between = request.endpoint.resource.conversion?.between;
  if (between) return trackWithWebhook(request, between, update, next);
  setManagers(next, updateManagers({ ...writeOf(request), ...update }));
  return undefined;
}

/**
 * Runs mutating admission. If it leaves managed fields invalid, the previous ones are restored and the client
 * is warned.
 */
export async function runMutatingAdmission(
  request: WriteRequest,
  attributes: WriteAttributes,
): Promise<void> {
  const before = managedFieldsOf(attributes);
  await request.admission.mutate(attributes);
  const after = managedFieldsOf(attributes);
  if (after === before || after === undefined) return;
  try {
    checkManagers(after as readonly ManagedFieldsEntry[]);
  } catch (error) {
    attributes.changeable.metadata.managedFields = before;
    request.warn(
      `.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: ${(error as Error).message}`,
    );
  }
}

const managedFieldsOf = ({ changeable }: WriteAttributes): ApiObject["metadata"]["managedFields"] =>
  changeable.metadata.managedFields;

/**
 * Drops managed fields of an object that was too large to be stored with them. Reports whether the object is
 * smaller now.
 */
export function dropManagedFields({ metadata }: ApiObject, error: unknown): boolean {
  const tooLarge = error instanceof ApiError && error.reason === "RequestEntityTooLarge";
  if (!tooLarge || !metadata.managedFields) return false;
  delete metadata.managedFields;
  return true;
}

/**
 * Updates managed fields with a webhook's conversions. If conversion fails the managers are dropped and the
 * write continues.
 */
async function trackWithWebhook(
  request: WriteRequest,
  between: ConvertBetween,
  update: { readonly live: JsonObject | undefined; readonly next: JsonObject },
  next: ApiObject,
): Promise<void> {
  const entries = await withConversions(between, (convert) =>
    updateManagers({ ...writeOf(request, convert), ...update }),
  ).catch((error: unknown): readonly ManagedFieldsEntry[] => {
    if (error instanceof ApiError) return [];
    throw error;
  });
  setManagers(next, entries);
}

/**
 * Returns the object that results from applying a configuration: merged, with managed fields, in the stored
 * version with defaults applied.
 */
export async function applyObject(
  request: WriteRequest,
  old: ApiObject | undefined,
  sent: ApiObject,
  { name, force }: { readonly name: string; readonly force: boolean },
): Promise<ApiObject> {
  const { endpoint } = request;
  const outcome = await applied(request, old, sent, force);
  if (!outcome.done) throw applyConflict(outcome.conflicts);
  // An unchanged object is not converted back and forth, since that may lose data.
  if (old && !outcome.changed && !endpoint.isHub && !sent.metadata.resourceVersion && !sent.metadata.uid) {
    const same = deepCopy(old);
    setManagers(same, outcome.managers);
    return same;
  }
  // The outcome shares parts with the live object and with placeholder values; later steps modify it in
  // place.
  const merged = deepCopy(decodedMerge(endpoint, outcome.object));
  merged.apiVersion = endpoint.apiVersion;
  merged.kind = endpoint.kind;
  if (!old && sent.metadata.uid)
    throw conflict(
      endpoint.resource.nameIn(endpoint),
      name,
      `uid mismatch: the provided object specified uid ${sent.metadata.uid}, and no existing object was found`,
    );
  if (!merged.metadata.name)
    throw badRequest(
      `the name of the object (${name} based on URL) was undeterminable: name must be provided`,
    );
  if (!old) delete merged.metadata.resourceVersion;
  setManagers(merged, outcome.managers);
  return defaultedMerge(request, merged);
}

/**
 * Decodes the merged object. A configuration may still hold malformed times or quantities, which have not
 * been parsed before this point.
 */
function decodedMerge({ schema, apiVersion, kind }: Endpoint, merged: JsonObject): ApiObject {
  try {
    return fromJsonValue(schema, merged, { truncates: true }).value as unknown as ApiObject;
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    const type = `${apiVersion.includes("/") ? "" : "/"}${apiVersion}, Kind=${kind}`;
    const { namespace = "", name = "" } = merged["metadata"] as ApiObject["metadata"];
    throw badRequest(
      `failed to convert new object (${namespace}/${name}; ${type}) to proper version: unable to convert unstructured object to ${type}: ${converterMessage(error)}`,
    );
  }
}

function applied(
  request: WriteRequest,
  old: ApiObject | undefined,
  sent: ApiObject,
  force: boolean,
): Promise<Applied> {
  const between = request.endpoint.resource.conversion?.between;
  const run = (convert?: ConvertObject): Promise<Applied> =>
    runApply(writeOf(request, convert), request, { old, sent, force });
  return between ? withConversions(between, run) : run();
}

async function runApply(
  write: ReturnType<typeof writeOf>,
  request: WriteRequest,
  {
    old,
    sent,
    force,
  }: { readonly old: ApiObject | undefined; readonly sent: ApiObject; readonly force: boolean },
): Promise<Applied> {
  const { lastApplied } = request.endpoint.resource.dialect.names.annotations;
  try {
    const steps = applySteps({
      ...write,
      live: old && inVersion(request, old),
      patch: sent as unknown as JsonObject,
      force,
      clientSideApply: { manager: commandLineManagers.serverSideApply, annotation: lastApplied },
    });
    for (;;) {
      const step = steps.next();
      if (request.yieldBudget?.expired) await request.yieldBudget.yield();
      if (step.done) return step.value;
    }
  } catch (error) {
    throw toBadRequest(error);
  }
}

/** Maps a configuration that does not fit its schema to a client error. */
const toBadRequest = (error: unknown): unknown =>
  error instanceof PatchError ? badRequest(error.message) : error;

const resets = new WeakMap<Endpoint, Map<string, Record<string, FieldSet>>>();

/**
 * Returns the fields that this kind of write resets, per version; computed once per endpoint and subresource.
 */
function resetFields({ endpoint, subresource }: WriteRequest): Record<string, FieldSet> {
  let known = resets.get(endpoint);
  if (!known) resets.set(endpoint, (known = new Map()));
  let fields = known.get(subresource);
  if (!fields) known.set(subresource, (fields = resetFieldsOf(endpoint, subresource)));
  return fields;
}

function resetFieldsOf(endpoint: Endpoint, subresource: string): Record<string, FieldSet> {
  const { strategy } = endpoint.resource;
  const paths = subresource
    ? (strategy.subresources?.[subresource]?.resets ?? [])
    : (strategy.resets ?? (strategy.status ? ["status"] : []));
  const set: Record<string, Record<string, object>> = {};
  for (const path of paths) {
    const [first, second] = path.split(".") as [string, string | undefined];
    const inner = (set[`f:${first}`] ??= {});
    if (second !== undefined) inner[`f:${second}`] = {};
  }
  // In every version: managers may have used a different one.
  const versions = endpoint.resource.endpoints.filter(({ group }) => group === endpoint.group);
  return Object.fromEntries(versions.map(({ apiVersion }) => [apiVersion, set as FieldSet]));
}

function writeOf(request: WriteRequest, convertElsewhere?: ConvertObject) {
  const { endpoint, subresource } = request;
  const { resource } = endpoint;
  return {
    schema: endpoint.schema,
    apiVersion: endpoint.apiVersion,
    manager: request.manager,
    subresource,
    now: timestamp(request.now),
    resetFields: resetFields(request),
    convert: (object: JsonObject, target: string, source: string) => {
      // Managers recorded in another group than the requested one are dropped, as clients expect.
      const [from, to] = [source, target].map((version) =>
        resource.endpoints.find(
          ({ apiVersion, group }) => apiVersion === version && group === endpoint.group,
        ),
      );
      if (!from || !to) return undefined;
      // Removed fields are restored as zero values, because conversion needs whole objects.
      const whole = deepCopy(fromJsonValue(from.schema, object).value) as unknown as ApiObject;
      const made =
        convertElsewhere && whole.metadata?.name
          ? convertElsewhere(whole, target)
          : to.fromHub(from.toHub(whole));
      return { schema: to.schema, object: made as unknown as JsonObject };
    },
  };
}

/** Returns the object in the version the client uses; the stored object itself when that is the same. */
function inVersion({ endpoint }: WriteRequest, hub: ApiObject): JsonObject {
  return (endpoint.isHub ? hub : endpoint.fromHub(deepCopy(hub))) as unknown as JsonObject;
}

function setManagers(object: ApiObject, entries: readonly ManagedFieldsEntry[]): void {
  if (entries.length > 0)
    object.metadata.managedFields = entries as NonNullable<ApiObject["metadata"]["managedFields"]>;
  else delete object.metadata.managedFields;
}

function applyConflict(conflicts: readonly Conflict[]): ApiError {
  const text = conflictMessage(conflicts);
  return new ApiError(409, "Conflict", text, {
    causes: conflicts.map(({ message, field }) => ({ reason: "FieldManagerConflict", message, field })),
  });
}

/** How a scale changes: the function that computes the new scale, or a configuration to apply to it. */
export interface ScaleChange {
  change(scale: ApiObject): ApiObject;
  readonly applying?: { readonly force: boolean };
}

/**
 * A scale before and after a change, each with its managers, and the mapping back to managers of the
 * workload.
 */
export interface ChangedScale {
  readonly old: ApiObject;
  readonly object: ApiObject;
  parentOwners(scale: ApiObject): readonly ManagedFieldsEntry[];
}

/** Applies a change to the scale of a workload. */
export function changeScale(
  request: WriteRequest,
  parent: ApiObject,
  scale: ApiObject,
  { change, applying }: ScaleChange,
): ChangedScale {
  const { endpoint } = request;
  const owners = (parent.metadata.managedFields ?? []) as readonly ManagedFieldsEntry[];
  const { replicasPath = ["spec", "replicas"], replicasPaths } = endpoint.resource.strategy.scale!;
  const paths = Object.entries(replicasPaths ?? { [endpoint.apiVersion]: replicasPath });
  const of = {
    paths: Object.fromEntries(
      paths.map(([version, path]): [string, FieldPath | null] => [version, path && path.map(fieldElement)]),
    ),
    parentVersion: endpoint.apiVersion,
    scaleVersion: scale.apiVersion,
  };
  const live = withManagers(scale as unknown as JsonObject, toScaleManagers(owners, of));
  const write = {
    schema: Scale,
    apiVersion: scale.apiVersion,
    manager: request.manager,
    subresource: "scale",
    now: timestamp(request.now),
  };
  const sent = change(scale) as unknown as JsonObject;
  const changed = (object: JsonObject, entries: readonly ManagedFieldsEntry[]): ChangedScale => ({
    old: live as unknown as ApiObject,
    object: withManagers(object, entries) as unknown as ApiObject,
    parentOwners: ({ metadata }) =>
      fromScaleManagers(owners, (metadata.managedFields ?? []) as readonly ManagedFieldsEntry[], of),
  });
  if (!applying) return changed(sent, updateManagers({ ...write, live, next: sent }));
  const outcome = appliedScale({ ...write, live, patch: sent, ...applying });
  if (!outcome.done) throw applyConflict(outcome.conflicts);
  return changed(outcome.object, outcome.managers);
}

function appliedScale(configuration: Parameters<typeof apply>[0]): Applied {
  try {
    return apply(configuration);
  } catch (error) {
    throw toBadRequest(error);
  }
}
