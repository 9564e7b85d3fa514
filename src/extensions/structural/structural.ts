// A structural schema: the part of a definition's schema that determines the fields of an object. Parsed
// once; the other files of this directory are functions over it.
import { type Steps, finishSteps } from "#base";
import type { Dialect } from "#dialect";

/** A schema as in a definition, with keys in the dialect's spelling. */
export type SchemaProps = Readonly<Record<string, unknown>>;

/** Returns a limit on a length or count; limits beyond the safe range are decoded as bigints. */
export const limit = (props: SchemaProps, key: string): number | undefined =>
  props[key] === undefined ? undefined : Number(props[key]);

export interface ValidationRule {
  readonly rule: string;
  readonly message: string;
  readonly messageExpression: string;
  /** Type of the error for a value that violates the rule; an invalid value by default. */
  readonly reason?: string;
  /** Path of the field that the error refers to, relative to the schema. */
  readonly fieldPath?: string;
  /** Whether the rule is also evaluated without an old value; `oldSelf` is then an optional value. */
  readonly optionalOldSelf?: boolean;
}

export interface Structural {
  /** The schema it was parsed from, used for validation of values. */
  readonly props: SchemaProps;
  readonly type: string;
  readonly nullable: boolean;
  /** Undefined if there is no default. */
  readonly default: unknown;
  readonly properties: ReadonlyMap<string, Structural>;
  /** Additional properties: their schema, or no schema if it is just `true` or `false`. */
  readonly additional: { readonly of: Structural | undefined; readonly allowed: boolean } | undefined;
  readonly items: Structural | undefined;
  readonly preserveUnknown: boolean;
  readonly embedded: boolean;
  readonly intOrString: boolean;
  readonly listType: string | undefined;
  readonly listKeys: readonly string[];
  readonly mapType: string | undefined;
  readonly rules: readonly ValidationRule[];
  /** Whether this schema or any schema below it has a validation rule. */
  readonly hasRules: boolean;
  /** Whether any schema below is an embedded resource. */
  readonly hasEmbedded: boolean;
}

/** Parses a schema that has been validated as structural. */
export const structuralOf = (props: SchemaProps, dialect: Dialect): Structural =>
  finishSteps(structuralSteps(props, dialect));

export function* structuralSteps(props: SchemaProps, dialect: Dialect): Steps<Structural> {
  const { extensionPrefix: x } = dialect.wire;
  const build = function* (given: SchemaProps): Steps<Structural> {
    yield;
    const properties = new Map<string, Structural>();
    for (const [name, inner] of Object.entries((given["properties"] as object | undefined) ?? {}))
      properties.set(name, yield* build(inner as SchemaProps));
    const rules = (given[`${x}validations`] as Partial<ValidationRule>[] | undefined) ?? [];
    const items =
      given["items"] && !Array.isArray(given["items"])
        ? yield* build(given["items"] as SchemaProps)
        : undefined;
    const { additionalProperties: other } = given;
    const values = isObject(other) ? yield* build(other) : undefined;
    const parts = [items, values, ...properties.values()];
    return {
      props: given,
      type: (given["type"] as string | undefined) ?? "",
      nullable: given["nullable"] === true,
      default: given["default"] ?? undefined,
      properties,
      additional: values || typeof other === "boolean" ? { of: values, allowed: other !== false } : undefined,
      items,
      preserveUnknown: given[`${x}preserve-unknown-fields`] === true,
      embedded: given[`${x}embedded-resource`] === true,
      intOrString: given[`${x}int-or-string`] === true,
      listType: given[`${x}list-type`] as string | undefined,
      listKeys: (given[`${x}list-map-keys`] as string[] | undefined) ?? [],
      mapType: given[`${x}map-type`] as string | undefined,
      rules: rules.map((rule) => ({ rule: "", message: "", messageExpression: "", ...rule })),
      hasRules: rules.length > 0 || parts.some((part) => part?.hasRules),
      hasEmbedded: parts.some((part) => part && (part.embedded || part.hasEmbedded)),
    };
  };
  return yield* build(props);
}

/** Returns the schema of the value under a key, or undefined if none applies. */
export const under = (schema: Structural | undefined, key: string): Structural | undefined =>
  schema && (schema.properties.get(key) ?? schema.additional?.of);

export const metaFields: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata"]);

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
