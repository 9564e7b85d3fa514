// Server-side apply. A configuration is merged into the live object and its manager owns the fields it names.
// Fields that the manager named last time but no longer does are removed unless another manager owns them.

import {
  type FieldSet,
  difference,
  intersection,
  isEmptySet,
  leaf,
  recursiveDifference,
  union,
  unionOf,
} from "./field-set.ts";
import { type Json, type JsonObject, isObject } from "./json-value.ts";
import { type Conflict, describeConflicts } from "./conflicts.ts";
import { type ClientSideApply, allowedConflicts, refreshLastApplied } from "./last-applied.ts";
import {
  type Managed,
  type ManagedFieldsEntry,
  type Manager,
  decodeManagers,
  encodeManagers,
  entriesOf,
  identityOf,
  noManagers,
  withManagers,
  withFields,
  withoutManagers,
} from "./managed-fields.ts";
import { mergeTypeOf } from "./merge-type.ts";
import {
  type Conflicting,
  type Versioned,
  type Versions,
  changesByVersion,
  conflictsOf,
  fitManagers,
  inVersion,
  shiftOwnership,
  unowned,
} from "./ownership.ts";
import { malformed } from "./patch-error.ts";
import { checkTyped } from "./typed-check.ts";
import { fieldSetOf } from "./typed-compare.ts";
import { TypedError } from "./typed-error.ts";
import { mergeTyped } from "./typed-merge.ts";
import { removeItems, withNamedFields } from "./typed-remove.ts";
import { type Write, emptyOf, isOpen, tracked } from "./update-managers.ts";

export interface Apply extends Write {
  /** The stored object in the applier's version; undefined if it does not exist yet. */
  readonly live: JsonObject | undefined;
  /** The applied configuration, as parsed. */
  readonly patch: JsonObject;
  /** Whether conflicts are resolved in favour of this manager. */
  readonly force: boolean;
  /** How tools that apply on the client side record what they applied. */
  readonly clientSideApply?: ClientSideApply | undefined;
}

export type Applied =
  | {
      readonly done: true;
      /** The object to store, with its managers. It still has to be decoded and defaulted. */
      readonly object: JsonObject;
      readonly managers: readonly ManagedFieldsEntry[];
      /** Whether anything other than the managers differs from the live object. */
      readonly changed: boolean;
    }
  | { readonly done: false; readonly conflicts: readonly Conflict[] };

/** Applies a configuration. Throws a PatchError if it does not match the schema. */
export function apply(request: Apply): Applied {
  const steps = applySteps(request);
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value;
}

/**
 * Like apply, but in steps, so that the caller can yield to other work while it handles a long configuration.
 */
export function* applySteps(request: Apply): Generator<undefined, Applied> {
  checkPatch(request);
  yield;
  const before = managersBefore(request);
  const outcome = yield* attempt(request, before, request.force);
  yield;
  if (!("conflicting" in outcome)) return finished(request, outcome);

  const allowed =
    request.clientSideApply?.manager === request.manager
      ? allowedConflicts(
          request.clientSideApply,
          mergeTypeOf(request.schema),
          request.live,
          request.apiVersion,
        )
      : undefined;
  if (allowed === undefined) return { done: false, conflicts: describeConflicts(outcome.conflicting) };
  const left = outcome.conflicting
    .map((each) => ({ ...each, fields: difference(each.fields, allowed) }))
    .filter(({ fields }) => !isEmptySet(fields));
  if (left.length > 0) return { done: false, conflicts: describeConflicts(left) };
  return finished(request, (yield* attempt(request, before, true)) as Merged);
}

function checkPatch({ schema, patch, apiVersion }: Apply): void {
  if (patch["apiVersion"] !== apiVersion)
    throw malformed(
      `Incorrect version specified in apply patch. Specified patch version: ${text(patch["apiVersion"])}, expected: ${apiVersion}`,
    );
  if ("kind" in schema && schema.kind !== undefined && patch["kind"] !== schema.kind.kind) {
    throw malformed(
      `Incorrect kind specified in apply patch. Specified patch kind: ${text(patch["kind"])}, expected: ${schema.kind.kind}`,
    );
  }
  const metadata = patch["metadata"];
  if (isObject(metadata) && Array.isArray(metadata["managedFields"]))
    throw malformed("metadata.managedFields must be nil");
  convertTypedError(
    () => checkTyped(mergeTypeOf(schema), patch),
    () => `failed to create typed patch object (${nameOf(patch)})`,
  );
}

function nameOf(object: JsonObject): string {
  const metadata = isObject(object["metadata"]) ? object["metadata"] : {};
  const version = text(object["apiVersion"]);
  return `${text(metadata["namespace"])}/${text(metadata["name"])}; ${version.includes("/") ? version : `/${version}`}, Kind=${text(object["kind"])}`;
}

const text = (value: Json | undefined): string => (typeof value === "string" ? value : "");

/**
 * Returns the current managers. Fields of an object without tracked managers are assigned to
 * `before-first-apply`.
 */
function managersBefore(request: Apply): Managed {
  const { live } = request;
  if (live === undefined) return noManagers;
  const managed = decodeManagers(entriesOf(live) ?? []);
  if (managed.managers.size > 0) return managed;
  return convertTypedError(
    () => tracked({ ...request, live: undefined, next: live, manager: "before-first-apply" }, noManagers),
    () =>
      `failed to create manager for existing fields: failed to convert new object (${nameOf(live)}) to smd typed`,
  );
}

/**
 * Runs `work` and turns a TypedError, thrown for objects that do not match their schema, into a PatchError.
 */
function convertTypedError<T>(work: () => T, failure: () => string): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof TypedError) throw malformed(`${failure()}: ${error.message}`);
    throw error;
  }
}

interface Merged {
  readonly object: JsonObject;
  readonly managed: Managed;
  readonly changed: boolean;
}

function* attempt(
  request: Apply,
  before: Managed,
  force: boolean,
): Generator<undefined, Merged | { readonly conflicting: readonly Conflicting[] }> {
  const { apiVersion, patch, now } = request;
  const versions: Versions = { convert: request.convert, resetFields: request.resetFields };
  const type = mergeTypeOf(request.schema);
  const live: Versioned = {
    apiVersion,
    type,
    object: request.live === undefined ? emptyOf(request.schema) : withoutManagers(request.live),
  };
  const merged: Versioned = {
    ...live,
    object: convertTypedError(
      () => {
        if (request.live !== undefined && isOpen(request.schema)) checkTyped(type, live.object);
        return mergeTyped(type, live.object, patch) as JsonObject;
      },
      () => `failed to create typed live object (${nameOf(live.object)})`,
    ),
  };

  yield;

  const applier: Manager = {
    name: request.manager,
    operation: "Apply",
    apiVersion,
    subresource: request.subresource ?? "",
    fields: leaf,
  };
  const identity = identityOf(applier);
  const managers = fitManagers(before.managers, live, versions);
  const last = managers.get(identity);
  const named = fieldSetOf(type, patch);
  yield;
  const reset = request.resetFields?.[apiVersion];
  managers.set(
    identity,
    withFields(applier, reset === undefined ? named : recursiveDifference(named, reset)),
  );

  const object = drops(last, managers.get(identity)!)
    ? yield* prune(merged, managers, last!, versions)
    : merged.object;
  const changesIn = changesByVersion(live, { ...live, object }, versions);
  const { changed, removed } = changesIn(apiVersion)!;
  yield;
  if (!force) {
    const conflicting = conflictsOf(managers, identity, changesIn);
    if (conflicting.length > 0) return { conflicting };
  }
  const shifted = shiftOwnership(managers, identity, (version) => changesIn(version));
  settleApplier(shifted, identity, managers.get(identity)!);
  const same = isEmptySet(changed) && isEmptySet(removed);
  const times = same ? before.times : new Map(before.times).set(identity, now);
  return { object: same ? live.object : object, managed: { managers: shifted, times }, changed: !same };
}

// Assigns to the applier the fields that it named, except those that are never owned.
function settleApplier(managers: Map<string, Manager>, identity: string, applier: Manager): void {
  const fields = difference(applier.fields, unowned);
  if (isEmptySet(fields)) managers.delete(identity);
  else managers.set(identity, withFields(applier, fields));
}

function finished(request: Apply, { object, managed, changed }: Merged): Applied {
  const managers = encodeManagers(managed);
  const refreshed =
    request.clientSideApply === undefined
      ? object
      : refreshLastApplied(request.clientSideApply, request.manager, object, request.patch);
  return {
    done: true,
    object: withManagers(refreshed, managers),
    managers,
    changed: changed || refreshed !== object,
  };
}

/** Reports whether the applier may have given up any field. */
const drops = (last: Manager | undefined, current: Manager): boolean =>
  last !== undefined &&
  (last.apiVersion !== current.apiVersion || !isEmptySet(difference(last.fields, current.fields)));

/** Removes what the manager applied last time but not this time, unless another manager owns it. */
function* prune(
  merged: Versioned,
  managers: ReadonlyMap<string, Manager>,
  last: Manager,
  versions: Versions,
): Generator<undefined, JsonObject> {
  const then = inVersion(merged, last.apiVersion, versions);
  if (then === undefined) return merged.object;
  const lastNamed = withNamedFields(then.type, last.fields);
  const stripped: Versioned = { ...then, object: without(then, lastNamed) };
  yield;
  const restored = yield* restoreOwned(then, stripped, managers, versions);
  yield;
  const back = inVersion(restored, then.apiVersion, versions);
  if (back === undefined) return merged.object;
  const removed = difference(allFields(then), allFields(back));
  yield;
  const result = inVersion(
    { ...then, object: without(then, intersection(removed, lastNamed)) },
    merged.apiVersion,
    versions,
  );
  return result?.object ?? merged.object;
}

/**
 * Restores the fields that any manager still owns, in each version that has managers, starting with the
 * version of the object.
 */
function* restoreOwned(
  merged: Versioned,
  stripped: Versioned,
  managers: ReadonlyMap<string, Manager>,
  versions: Versions,
): Generator<undefined, Versioned> {
  const owned = new Map<string, FieldSet[]>([[merged.apiVersion, []]]);
  for (const { apiVersion, fields } of managers.values()) {
    const sets = owned.get(apiVersion);
    if (sets) sets.push(fields);
    else owned.set(apiVersion, [fields]);
  }
  let current = merged;
  let result = stripped;
  for (const [apiVersion, sets] of owned) {
    const fields = unionOf(sets);
    yield;
    if (isEmptySet(fields)) continue;
    const whole = inVersion(current, apiVersion, versions);
    const rest = inVersion(result, apiVersion, versions);
    if (whole === undefined || rest === undefined) continue;
    current = whole;
    result = {
      ...whole,
      object: without(
        whole,
        difference(allFields(whole), union(allFields(rest), withNamedFields(whole.type, fields))),
      ),
    };
  }
  return result;
}

const allFields = ({ type, object }: Versioned): FieldSet => withNamedFields(type, fieldSetOf(type, object));

function without({ type, object }: Versioned, fields: FieldSet): JsonObject {
  const result = removeItems(type, object, fields);
  return isObject(result) ? result : {};
}
