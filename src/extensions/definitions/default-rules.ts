// Validates the defaults in a definition: they must match their own schema and contain no unknown fields.
import { type FieldError, type Steps, invalidValue, untypedValue } from "#base";
import { DecodeError, type OpenWalk } from "#schema";
import { embeddedErrors } from "../structural/embedded.ts";
import { EmbeddedError, pruneValue } from "../structural/prune.ts";
import { type RuleLanguage, ruleSet } from "../structural/rules.ts";
import { type Structural, metaFields } from "../structural/structural.ts";
import { compileValues, nowhere, valueErrors } from "../structural/values.ts";

const maxDepth = 1000;

export function* defaultErrors(
  schema: Structural,
  path: string,
  language: RuleLanguage,
): Steps<FieldError[]> {
  const errors: FieldError[] = [];
  yield* walk(schema, path, { language, root: true, inMetadata: false }, errors);
  return errors;
}

interface Location {
  readonly language: RuleLanguage;
  readonly root: boolean;
  readonly inMetadata: boolean;
}

function* walk(schema: Structural, path: string, location: Location, errors: FieldError[]): Steps<void> {
  yield;
  const inMetadata = location.inMetadata && !schema.embedded;
  if (schema.default !== undefined)
    errors.push(...(yield* ownErrors(schema, `${path}.default`, location, inMetadata)));
  if (schema.items)
    yield* walk(schema.items, `${path}.items`, { ...location, root: false, inMetadata }, errors);
  for (const [name, inner] of schema.properties) {
    const meta = inMetadata || ((schema.embedded || location.root) && metaFields.has(name));
    yield* walk(inner, `${path}.properties[${name}]`, { ...location, root: false, inMetadata: meta }, errors);
  }
}

function* ownErrors(
  schema: Structural,
  path: string,
  { language, root }: Location,
  inMetadata: boolean,
): Steps<readonly FieldError[]> {
  const { default: value } = schema;
  const check = compileValues(schema.props, { dialect: language.dialect, anyIntOrString: true });
  // Values are validated separately; their path is then prefixed to the errors.
  const found = (): FieldError[] =>
    valueErrors(check, value, "").map((error) => ({
      ...error,
      field: error.field === "" || error.field === nowhere ? path : `${path}.${error.field}`,
    }));
  if (inMetadata) return found();
  const errors: FieldError[] = [];
  const unknownPaths: string[] = [];
  const walked: OpenWalk = {
    own: false,
    keys: 0,
    depthLeft: maxDepth,
    unknown: false,
    numbers: false,
    unknownPaths,
  };
  try {
    pruneValue(value, schema, path, walked);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    return [
      error instanceof EmbeddedError ? error.found : invalidValue(path, untypedValue(value), error.message),
    ];
  }
  // Unknown fields in embedded metadata are dropped when the default is applied.
  if (unknownPaths.length > 0)
    errors.push(invalidValue(path, untypedValue(value), "must not have unknown fields"));
  const embedded = embeddedErrors(value, schema, path, root);
  if (embedded.length > 0) return [...errors, ...embedded];
  const valueErrorList = found();
  const rules = valueErrorList.length === 0 ? yield* ruleSet(schema, false, language) : undefined;
  return [...errors, ...valueErrorList, ...(rules ? yield* rules.errors(value, value, path) : [])];
}
