// Helpers for the last column of kind declarations, in addition to those of the schema grammar.
import type { Field, FieldExtras, Fields } from "#schema";
import type { FieldGate } from "./gated-fields.ts";

/**
 * The values known so far. They are published, but validated by the kind's strategy, which has the exact
 * error message.
 */
export const openEnum = (...values: readonly string[]): FieldExtras => ({ enum: values, openEnum: true });

/** A default that published schemas do not mention. */
export const hiddenDefault = (value: unknown): FieldExtras => ({
  default: value,
  publishedDefault: undefined,
});

/** A list whose items are identified by these fields in server-side apply. */
export const mapList = (...keys: readonly string[]): FieldExtras => ({ list: { type: "map", keys } });

/** A list of unique values, each owned separately. */
export const setList: FieldExtras = { list: { type: "set" } };

/** A list with a single owner. */
export const atomicList: FieldExtras = { list: { type: "atomic" } };

/** A field of a later release, added by this feature gate. */
export const gated = (gate: FieldGate): FieldExtras => ({ gate });

/** An enumerated value of a later release, added by this feature gate. */
export const gatedValue = (value: string, gate: FieldGate): FieldExtras => ({
  valueGates: { [value]: gate },
});

/** An expression field, added by this minor release. */
export const since = (release: number): FieldExtras => ({ since: release });

/** Empty differs from absent. */
export const keepEmpty: FieldExtras = { keepEmpty: true };

/** Returns the field with empty distinguished from absent. */
export const keepingEmpty = <F extends Field>(field: F): F => ({
  ...field,
  more: { ...field.more, ...keepEmpty },
});

/** A list that strategic merge patch merges, matching items by `key` (by value without one). */
export const patchMerge = (key?: string): FieldExtras => ({
  patch: key === undefined ? { strategy: "merge" } : { strategy: "merge", key },
});

/**
 * Fields whose keys contain a product name, in neutral spelling; `inDialect` substitutes the dialect's. They
 * are never part of the TypeScript type.
 */
export const dialectFields = (fields: Fields): Readonly<Record<never, Field>> => fields;
