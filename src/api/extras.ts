// The words that the tables of kinds use in their last column, beside those of the grammar itself.
import type { Field, FieldExtras, Fields } from "#schema";
import type { FieldGate } from "./gated-fields.ts";

/**
 * The values known so far. Published, but checked by the kind's strategy, which knows the exact complaint.
 */
export const known = (...values: readonly string[]): FieldExtras => ({ enum: values, openEnum: true });

/** Filled in when unset; published schemas do not mention it. */
export const assumed = (value: unknown): FieldExtras => ({ default: value, publishedDefault: undefined });

/** A list whose items server-side apply tells apart by these fields. */
export const keyed = (...keys: readonly string[]): FieldExtras => ({ list: { type: "map", keys } });

/** A list of values that occur once, owned one by one. */
export const unique: FieldExtras = { list: { type: "set" } };

/** A list with one owner. */
export const whole: FieldExtras = { list: { type: "atomic" } };

/** A field of a later release, which this feature gate adds. */
export const gated = (gate: FieldGate): FieldExtras => ({ gate });

/** A field of expressions, which this minor release added. */
export const since = (release: number): FieldExtras => ({ since: release });

/** Empty is not the same as absent. */
export const emptyCounts: FieldExtras = { emptyCounts: true };

/** The same field, whose emptiness is not the same as its absence. */
export const counted = <F extends Field>(field: F): F => ({
  ...field,
  more: { ...field.more, ...emptyCounts },
});

/** Strategic merge patch merges the items, matching them by `key` (by value without one). */
export const merged = (key?: string): FieldExtras => ({
  patch: key === undefined ? { strategy: "merge" } : { strategy: "merge", key },
});

/**
 * Fields whose keys carry a product's name, in our own spelling; `inDialect` puts the dialect's in. Never
 * part of the TypeScript type.
 */
export const worded = (fields: Fields): Readonly<Record<never, Field>> => fields;
