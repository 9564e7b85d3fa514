// `optionalOldSelf` of rules came with ratcheting: without that it is dropped, unless the stored definition has it.
import type { CustomResourceDefinitionSpec } from "#api";
import type { Dialect } from "#dialect";
import type { SchemaProps } from "../structural/structural.ts";
import { schemasBelow } from "./schema-rules.ts";

interface Rule {
  optionalOldSelf?: boolean;
}

export function dropOptionalOldSelf(spec: CustomResourceDefinitionSpec, dialect: Dialect): void {
  for (const rule of rulesOf(spec, dialect)) delete rule.optionalOldSelf;
}

export function hasOptionalOldSelf(spec: CustomResourceDefinitionSpec, dialect: Dialect): boolean {
  for (const { optionalOldSelf } of rulesOf(spec, dialect)) if (optionalOldSelf !== undefined) return true;
  return false;
}

function* rulesOf({ versions }: CustomResourceDefinitionSpec, { wire }: Dialect): Generator<Rule> {
  const key = `${wire.extensionPrefix}validations`;
  const left: SchemaProps[] = [];
  for (const { schema } of versions ?? []) if (schema?.openAPIV3Schema) left.push(schema.openAPIV3Schema);
  for (let schema = left.pop(); schema; schema = left.pop()) {
    yield* (schema[key] as Rule[] | undefined) ?? [];
    for (const [inner] of schemasBelow(schema, "")) left.push(inner);
  }
}
