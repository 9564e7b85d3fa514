// Patches and server-side apply, all derived from schemas.

export { type Applied, type Apply, apply, applySteps } from "./apply.ts";
export { type Conflict, conflictMessage } from "./conflicts.ts";
export {
  type FieldSet,
  difference as fieldSetDifference,
  fieldSetOfPaths,
  hasPath as fieldSetHas,
  intersection as fieldSetIntersection,
  isEmptySet as isEmptyFieldSet,
  parseFieldSet,
  pathsOf as fieldSetPaths,
  union as fieldSetUnion,
} from "./field-set.ts";
export { type JsonPatchLimits, jsonPatch, jsonPatchLimits } from "./json-patch.ts";
export type { Json, JsonObject } from "./json-value.ts";
export { type TimesComparison, keepTimes } from "./kept-times.ts";
export type { ClientSideApply } from "./last-applied.ts";
export { type ManagedFieldsEntry, checkManagers, withManagers, withoutManagers } from "./managed-fields.ts";
export { mergePatch } from "./merge-patch.ts";
export {
  type AnyType,
  type ListType,
  type MapType,
  type MergeType,
  type ScalarType,
  type StructType,
  anyType,
  mergeTypeOf,
  structType,
} from "./merge-type.ts";
export type { ConvertTo } from "./ownership.ts";
export { type PatchFault, PatchError } from "./patch-error.ts";
export {
  type FieldPath,
  fieldElement,
  indexElement,
  keyElement,
  pathText,
  valueElement,
} from "./path-element.ts";
export { type ReplicasPaths, type ScaleOf, fromScaleManagers, toScaleManagers } from "./scale-managers.ts";
export { StoredParser } from "./shared-field-sets.ts";
export { strategicMergePatch } from "./strategic.ts";
export { type Changes, type Comparison, changesBetween, compareTyped, fieldSetOf } from "./typed-compare.ts";
export { checkTyped } from "./typed-check.ts";
export { TypedError, type TypedFinding } from "./typed-error.ts";
export { mergeTyped } from "./typed-merge.ts";
export { extractItems, removeItems } from "./typed-remove.ts";
export { type Update, type Write, updateManagers } from "./update-managers.ts";
