// The JSON schemas of custom resources.
import {
  type Message,
  type TypeOf,
  bool,
  double,
  int64,
  json,
  list,
  map,
  optional,
  orArray,
  orBool,
  orStrings,
  pointer,
  recursive,
  required,
  string,
} from "#schema";
import { keepEmpty, mapList, openEnum, patchMerge, since, dialectFields } from "../extras.ts";
import { apiextensions } from "../packages.ts";

/** The reference publishes no description for these. */
const undescribed = { undescribed: true } as const;

const { message, named } = apiextensions;

export const ValidationRule = message("ValidationRule", "A rule in CEL.", {
  rule: required(1, string, "The rule; it must come out true."),
  message: optional(2, string, "What to say when it does not."),
  messageExpression: optional(3, string, "Makes the message, in CEL; wins over message."),
  reason: pointer(4, string, "What the error of a value that breaks the rule is called.", {
    ...openEnum("FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"),
    ...since(28),
  }),
  fieldPath: optional(5, string, "The field below that the error is about.", since(28)),
  optionalOldSelf: pointer(
    6,
    bool,
    "Runs the rule without an old value, too: oldSelf is an optional value.",
    since(29),
  ),
});
export type ValidationRule = TypeOf<typeof ValidationRule>;

export const ExternalDocumentation = message("ExternalDocumentation", "Documentation elsewhere.", {
  description: optional(1, string, "What is found there."),
  url: optional(2, string, "Where it is."),
});
export type ExternalDocumentation = TypeOf<typeof ExternalDocumentation>;

// A schema contains schemas: the declaration refers to itself through this function, its type through the
// interface below.
const self = (): Message => JSONSchemaProps;

export const JSONSchemaProps = message("JSONSchemaProps", "A JSON schema.", {
  id: optional(1, string, "Identity of the schema; not used."),
  $schema: optional(2, named("JSONSchemaURL", string), "Dialect of the schema; not used."),
  $ref: pointer(3, string, "Another schema that takes its place; not allowed here."),
  description: optional(4, string, "What the value means."),
  type: optional(5, string, "JSON type: object, array, string, integer, number or boolean."),
  format: optional(6, string, "Further says what a string or number is, such as date-time."),
  title: optional(7, string, "Short name."),
  default: pointer(8, json, "Filled in when the value is missing."),
  maximum: pointer(9, double, "Largest number."),
  exclusiveMaximum: optional(10, bool, "Whether the maximum itself is too large."),
  minimum: pointer(11, double, "Smallest number."),
  exclusiveMinimum: optional(12, bool, "Whether the minimum itself is too small."),
  maxLength: pointer(13, int64, "Longest string, in characters."),
  minLength: pointer(14, int64, "Shortest string, in characters."),
  pattern: optional(15, string, "Regular expression that a string must match."),
  maxItems: pointer(16, int64, "Most items of an array."),
  minItems: pointer(17, int64, "Fewest items of an array."),
  uniqueItems: optional(18, bool, "Whether items must differ; not allowed here."),
  multipleOf: pointer(19, double, "What a number must be a multiple of."),
  enum: optional(20, list(json), "Values allowed."),
  maxProperties: pointer(21, int64, "Most keys of an object."),
  minProperties: pointer(22, int64, "Fewest keys of an object."),
  required: optional(23, list(string), "Keys that an object must have."),
  items: pointer(24, orArray<JSONSchemaProps>(self), "Schema of the items of an array.", undescribed),
  allOf: optional(25, list(recursive<JSONSchemaProps>(self)), "Schemas that must all match."),
  oneOf: optional(26, list(recursive<JSONSchemaProps>(self)), "Schemas of which exactly one must match."),
  anyOf: optional(27, list(recursive<JSONSchemaProps>(self)), "Schemas of which one must match."),
  not: optional(28, recursive<JSONSchemaProps>(self), "Schema that must not match.", undescribed),
  properties: optional(29, map(recursive<JSONSchemaProps>(self)), "Schemas of the keys of an object."),
  additionalProperties: pointer(
    30,
    orBool<JSONSchemaProps>(self),
    "Schema of all other keys, or whether there may be any.",
    undescribed,
  ),
  patternProperties: optional(
    31,
    map(recursive<JSONSchemaProps>(self)),
    "Schemas of keys by regular expression; not allowed here.",
  ),
  dependencies: optional(
    32,
    named("JSONSchemaDependencies", map(orStrings<JSONSchemaProps>(self))),
    "What else the presence of a key asks for; not allowed here.",
    keepEmpty,
  ),
  additionalItems: pointer(
    33,
    orBool<JSONSchemaProps>(self),
    "Schema of further items, or whether there may be any; not allowed here.",
    undescribed,
  ),
  definitions: optional(
    34,
    named("JSONSchemaDefinitions", map(recursive<JSONSchemaProps>(self))),
    "Schemas to refer to; not allowed here.",
  ),
  externalDocs: optional(35, ExternalDocumentation, "Documentation elsewhere.", undescribed),
  example: pointer(36, json, "An example.", undescribed),
  nullable: optional(37, bool, "Whether null will do."),
  ...dialectFields({
    "x-orch-preserve-unknown-fields": pointer(38, bool, "Keeps keys that the schema does not name."),
    "x-orch-embedded-resource": optional(
      39,
      bool,
      "Says that the value is a whole object with kind and metadata.",
    ),
    "x-orch-int-or-string": optional(40, bool, "Says that the value is an integer or a string."),
    "x-orch-list-map-keys": optional(41, list(string), "Keys by which items of a map list are told apart."),
    "x-orch-list-type": pointer(42, string, "How a list is merged: atomic, set or map."),
    "x-orch-map-type": pointer(43, string, "How an object is merged: granular or atomic."),
    "x-orch-validations": optional(44, named("ValidationRules", list(ValidationRule)), "Rules in CEL.", {
      ...patchMerge("rule"),
      ...mapList("rule"),
    }),
  }),
});
export interface JSONSchemaProps extends TypeOf<typeof JSONSchemaProps> {}
