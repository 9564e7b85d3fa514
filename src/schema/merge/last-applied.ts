// Compatibility with tools that apply on the client side and record the last configuration in an annotation:
// their fields can be taken over without conflicts, and the annotation is kept up to date for them.

import { type FieldSet, difference } from "./field-set.ts";
import { type Json, type JsonObject, isObject, withKey, withoutKey } from "./json-value.ts";
import type { MergeType } from "./merge-type.ts";
import { canonicalJson } from "./path-element.ts";
import { checkTyped } from "./typed-check.ts";
import { compareTyped, fieldSetOf } from "./typed-compare.ts";
import { TypedError } from "./typed-error.ts";

export interface ClientSideApply {
  /** The manager that may take over the fields. */
  readonly manager: string;
  readonly annotation: string;
}

/** Maximum total size of an object's annotations in bytes. */
const maxAnnotationBytes = 256 * 1024;

/**
 * Returns the fields that still have the value the tool last applied; undefined without a usable annotation.
 */
export function allowedConflicts(
  { annotation }: ClientSideApply,
  type: MergeType,
  live: JsonObject | undefined,
  apiVersion: string,
): FieldSet | undefined {
  const lastApplied = annotationsOf(live)?.[annotation];
  if (live === undefined || typeof lastApplied !== "string" || lastApplied === "") return undefined;
  const last = parsed(lastApplied);
  if (!isObject(last) || last["apiVersion"] !== apiVersion) return undefined;
  try {
    checkTyped(type, last);
    const { added, modified, removed } = compareTyped(type, last, live);
    return difference(difference(difference(fieldSetOf(type, last), modified), added), removed);
  } catch (error) {
    if (error instanceof TypedError) return undefined;
    throw error;
  }
}

function parsed(lastApplied: string): Json | undefined {
  try {
    return JSON.parse(lastApplied) as Json;
  } catch {
    return undefined;
  }
}

/**
 * Returns the object with its last-applied annotation, if it has one, updated to the applied configuration.
 */
export function refreshLastApplied(
  { manager, annotation }: ClientSideApply,
  applier: string,
  object: JsonObject,
  patch: JsonObject,
): JsonObject {
  const annotations = annotationsOf(object);
  const lastApplied = annotations?.[annotation];
  if (
    applier !== manager ||
    annotations === undefined ||
    typeof lastApplied !== "string" ||
    lastApplied === ""
  )
    return object;
  const updated = `${canonicalJson(withoutNote(patch, annotation))}\n`;
  if (updated === lastApplied) return object;
  const changed = withKey(annotations, annotation, updated);
  return withAnnotations(
    object,
    annotationBytes(changed) > maxAnnotationBytes ? withoutKey(annotations, annotation) : changed,
  );
}

function withoutNote(patch: JsonObject, annotation: string): JsonObject {
  const annotations = annotationsOf(patch);
  return annotations === undefined ? patch : withAnnotations(patch, withoutKey(annotations, annotation));
}

function annotationsOf(object: JsonObject | undefined): JsonObject | undefined {
  const metadata = object?.["metadata"];
  const annotations = isObject(metadata) ? metadata["annotations"] : undefined;
  return isObject(annotations) ? annotations : undefined;
}

const withAnnotations = (object: JsonObject, annotations: JsonObject): JsonObject => ({
  ...object,
  metadata: { ...(object["metadata"] as JsonObject), annotations },
});

function annotationBytes(annotations: JsonObject): number {
  let size = 0;
  for (const key in annotations) size += Buffer.byteLength(key) + Buffer.byteLength(String(annotations[key]));
  return size;
}
