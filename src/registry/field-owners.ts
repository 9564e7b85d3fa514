// Who owns which fields: kept in metadata.managedFields on every write, and decided upon by server-side apply.
import { ApiError, badRequest, conflict } from "#base";
import { type Conflict, type JsonObject, type ManagedFieldsEntry, apply, fromJsonValue, updateManagers } from "#schema";
import { defaulted } from "./defaulting.ts";
import { type WriteRequest, timestamp } from "./request.ts";
import type { ApiObject } from "./strategy.ts";

/** Notes what a write that is not an apply changed. Sets or clears `metadata.managedFields` of the new object. */
export function trackUpdate(request: WriteRequest, old: ApiObject | undefined, next: ApiObject): void {
  const entries = updateManagers({ ...writeOf(request), live: old && inVersion(request, old), next: inVersion(request, next) });
  setManagers(next, entries);
}

/** The object that results from applying a configuration: merged, owned, in the stored shape with its defaults. */
export function applyObject(request: WriteRequest, name: string, old: ApiObject | undefined, sent: ApiObject, force: boolean): ApiObject {
  const { endpoint } = request;
  if (sent.metadata.managedFields?.length) throw badRequest("metadata.managedFields must be nil");
  const outcome = apply({ ...writeOf(request), live: old && inVersion(request, old), patch: sent as unknown as JsonObject, force });
  if (!outcome.done) throw applyConflict(request, name, outcome.conflicts);
  const merged = fromJsonValue(endpoint.schema, outcome.object).value as unknown as ApiObject;
  merged.apiVersion = endpoint.apiVersion;
  merged.kind = endpoint.kind;
  merged.metadata.name ??= name;
  setManagers(merged, outcome.managers);
  return defaulted(request, merged);
}

function writeOf(request: WriteRequest) {
  const { endpoint, subresource } = request;
  const { resource } = endpoint;
  return {
    schema: endpoint.schema,
    apiVersion: endpoint.apiVersion,
    manager: request.manager,
    subresource,
    now: timestamp(request.now),
    convert: (object: JsonObject, apiVersion: string) => {
      const to = resource.endpoints.find((item) => item.apiVersion === apiVersion);
      if (!to) return undefined;
      return { schema: to.schema, object: to.fromHub(endpoint.toHub(structuredClone(object) as unknown as ApiObject)) as unknown as JsonObject };
    },
  };
}

/** The object in the version the client speaks; the stored object itself when that is the same. */
function inVersion({ endpoint }: WriteRequest, hub: ApiObject): JsonObject {
  return (endpoint.isHub ? hub : endpoint.fromHub(structuredClone(hub))) as unknown as JsonObject;
}

function setManagers(object: ApiObject, entries: readonly ManagedFieldsEntry[]): void {
  if (entries.length > 0) object.metadata.managedFields = entries as NonNullable<ApiObject["metadata"]["managedFields"]>;
  else delete object.metadata.managedFields;
}

function applyConflict(request: WriteRequest, name: string, conflicts: readonly Conflict[]): ApiError {
  const { endpoint } = request;
  const text = `Apply failed with ${conflicts.length} conflict${conflicts.length === 1 ? "" : "s"}: ${conflicts.map(({ message, field }) => `${message}: ${field}`).join(", ")}`;
  const base = conflict(endpoint.resource.nameIn(endpoint), name, text);
  return new ApiError(409, "Conflict", text, {
    ...base.details,
    causes: conflicts.map(({ message, field }) => ({ reason: "FieldManagerConflict", message, field })),
  });
}
