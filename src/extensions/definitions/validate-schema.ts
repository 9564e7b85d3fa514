// Validates one schema of a definition: allowed keywords, structure, defaults and rules.
import { type FieldError, type Steps, forbiddenField, invalidValue } from "#base";
import type { RuleLanguage } from "../structural/rules.ts";
import { type SchemaProps, type Structural, structuralSteps } from "../structural/structural.ts";
import { defaultErrors } from "./default-rules.ts";
import { expressionErrors } from "./expression-rules.ts";
import { schemaRuleErrors } from "./schema-rules.ts";
import { notStructural, structuralErrors } from "./structural-rules.ts";

/** Validates a schema; `at` is the path of the field that contains it. */
export function* schemaErrors(
  schema: SchemaProps | undefined,
  statusEnabled: boolean,
  at: string,
  language: RuleLanguage,
): Steps<FieldError[]> {
  if (!schema) return [];
  const { dialect } = language;
  const x = dialect.wire.extensionPrefix;
  const path = `${at}.openAPIV3Schema`;
  const errors: FieldError[] = statusEnabled ? rootErrors(schema, path, x) : [];
  if (schema["nullable"] === true)
    errors.push(forbiddenField(`${path}.nullable`, "nullable cannot be true at the root"));
  const reason = yield* notStructural(schema, x);
  const before = errors.length;
  let structural: Structural | undefined;
  if (reason === undefined) {
    errors.push(...(yield* structuralErrors(schema, path, dialect)));
    if (errors.length === before) {
      structural = yield* structuralSteps(schema, dialect);
      errors.push(...(yield* defaultErrors(structural, path, language)));
    }
  }
  const ruleErrors = yield* schemaRuleErrors(schema, path, dialect);
  errors.push(...ruleErrors);
  if (structural && errors.length === before + ruleErrors.length)
    errors.push(...(yield* expressionErrors(structural, path, language, ruleErrors)));
  if (errors.length === 0 && reason !== undefined) errors.push(invalidValue(path, "", reason));
  return errors;
}

/** With a status subresource, the root allows only keywords that apply to whole objects. */
const rootKeywords = new Set([
  "description",
  "type",
  "format",
  "title",
  "maximum",
  "exclusiveMaximum",
  "minimum",
  "exclusiveMinimum",
  "maxLength",
  "minLength",
  "pattern",
  "maxItems",
  "minItems",
  "uniqueItems",
  "multipleOf",
  "required",
  "items",
  "properties",
  "externalDocs",
  "example",
]);

function rootErrors(schema: SchemaProps, path: string, x: string): FieldError[] {
  if (schema["type"] !== undefined && schema["type"] !== "object")
    return [
      invalidValue(
        `${path}.type`,
        schema["type"],
        'only "object" is allowed as the type at the root of the schema if the status subresource is enabled',
      ),
    ];
  const allowed = (key: string): boolean =>
    rootKeywords.has(key) || key === `${x}preserve-unknown-fields` || key === `${x}validations`;
  return Object.keys(schema).every(allowed)
    ? []
    : [
        invalidValue(
          path,
          schema,
          `only ${[...rootKeywords].join(", ")} are allowed at the root of the schema if the status subresource is enabled`,
        ),
      ];
}
