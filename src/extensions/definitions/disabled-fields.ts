// Drops fields of definitions whose feature gate is disabled, unless the stored definition has them.
import type { CustomResourceDefinitionSpec } from "#api";
import type { Dialect } from "#dialect";
import type { SchemaProps } from "../structural/structural.ts";
import { schemasBelow } from "./schema-rules.ts";

export interface DefinitionGates {
  /** Whether schemas may have validation rules. */
  readonly expressions: boolean;
  /** Whether ratcheting validation is enabled, which also introduced `optionalOldSelf` of rules. */
  readonly ratcheting: boolean;
  /** Whether definitions may declare fields for field selectors, which are then published. */
  readonly selectors?: boolean;
}

interface Rule {
  optionalOldSelf?: boolean;
}

/** Rules below these keywords are rejected regardless of the gate, so they are not dropped. */
const refused: ReadonlySet<string> = new Set([
  "additionalItems",
  "allOf",
  "anyOf",
  "definitions",
  "not",
  "oneOf",
  "patternProperties",
]);

export function dropDisabledFields(
  spec: CustomResourceDefinitionSpec,
  old: CustomResourceDefinitionSpec | undefined,
  { expressions, ratcheting }: DefinitionGates,
  { wire }: Dialect,
): void {
  const key = `${wire.extensionPrefix}validations`;
  const rulesIn = (schema: SchemaProps): Rule[] | undefined => (schema[key] as Rule[] | null) ?? undefined;
  const uses = (used: (schema: SchemaProps) => boolean): boolean => !!old && schemasOf(old).some(used);
  if (!expressions && !uses((schema) => rulesIn(schema) !== undefined))
    for (const schema of schemasOf(spec, refused)) delete (schema as Record<string, unknown>)[key];
  const optional = (schema: SchemaProps): boolean =>
    rulesIn(schema)?.some(({ optionalOldSelf }) => optionalOldSelf !== undefined) ?? false;
  if (!ratcheting && !uses(optional))
    for (const schema of schemasOf(spec))
      for (const rule of rulesIn(schema) ?? []) delete rule.optionalOldSelf;
}

/** Yields the schemas of all versions, nested ones included, except those below the given keywords. */
function* schemasOf(
  { versions }: CustomResourceDefinitionSpec,
  except: ReadonlySet<string> = new Set(),
): Generator<SchemaProps, void> {
  const left: SchemaProps[] = [];
  for (const { schema } of versions ?? []) if (schema?.openAPIV3Schema) left.push(schema.openAPIV3Schema);
  for (let schema = left.pop(); schema; schema = left.pop()) {
    yield schema;
    for (const [inner, , keyword] of schemasBelow(schema, "")) if (!except.has(keyword)) left.push(inner);
  }
}
