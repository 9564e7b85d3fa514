// A structural schema: the part of a definition's schema that says which fields there are. Parsed once; every
// other file of this folder is a function over it.
import { type Steps, finishSteps } from "#base";
import type { Dialect } from "#dialect";

/** A schema as definitions carry it, keys as the dialect writes them. */
export type SchemaProps = Readonly<Record<string, unknown>>;

export interface ValidationRule {
  readonly rule: string;
  readonly message: string;
  readonly messageExpression: string;
  /** What kind of error a value that breaks the rule has; an invalid value unless said. */
  readonly reason?: string;
  /** The field below that the error is about. */
  readonly fieldPath?: string;
  /** Whether the rule is asked without an old value, too: `oldSelf` is an optional value then. */
  readonly optionalOldSelf?: boolean;
}

export interface Structural {
  /** What it was parsed from, for everything that is about values and not about fields. */
  readonly props: SchemaProps;
  readonly type: string;
  readonly nullable: boolean;
  /** Undefined where there is none. */
  readonly default: unknown;
  readonly properties: ReadonlyMap<string, Structural>;
  /** Other keys: of a schema, or of none where only `true` or `false` stands. */
  readonly additional: { readonly of: Structural | undefined; readonly allowed: boolean } | undefined;
  readonly items: Structural | undefined;
  readonly preserveUnknown: boolean;
  readonly embedded: boolean;
  readonly intOrString: boolean;
  readonly listType: string | undefined;
  readonly listKeys: readonly string[];
  readonly mapType: string | undefined;
  readonly rules: readonly ValidationRule[];
  /** Whether there is a rule here or anywhere below. */
  readonly hasRules: boolean;
  /** Whether there is an embedded resource anywhere below. */
  readonly hasEmbedded: boolean;
}

/** Parses a schema that was found to be structural. */
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

/** The schema of a value below a key; undefined where none applies. */
export const under = (schema: Structural | undefined, key: string): Structural | undefined =>
  schema && (schema.properties.get(key) ?? schema.additional?.of);

export const metaFields: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata"]);

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
