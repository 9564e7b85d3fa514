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

export const ValidationRule = message("ValidationRule", "A validation rule in CEL.", {
  rule: required(1, string, "CEL expression that must evaluate to true for the value to be valid."),
  message: optional(2, string, "Message returned if the validation fails."),
  messageExpression: optional(
    3,
    string,
    "CEL expression that evaluates to the message; takes precedence over message.",
  ),
  reason: pointer(4, string, "Reason of the error if the validation fails.", {
    ...openEnum("FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"),
    ...since(28),
  }),
  fieldPath: optional(5, string, "Relative path of the field that the error is reported for.", since(28)),
  optionalOldSelf: pointer(
    6,
    bool,
    "Whether transition rules also run without an old value; oldSelf is then an optional value.",
    since(29),
  ),
});
export type ValidationRule = TypeOf<typeof ValidationRule>;

export const ExternalDocumentation = message(
  "ExternalDocumentation",
  "Reference to external documentation.",
  {
    description: optional(1, string, "Description of the documentation."),
    url: optional(2, string, "URL of the documentation."),
  },
);
export type ExternalDocumentation = TypeOf<typeof ExternalDocumentation>;

// A schema contains schemas: the declaration refers to itself through this function, its type through the
// interface below.
const self = (): Message => JSONSchemaProps;

export const JSONSchemaProps = message(
  "JSONSchemaProps",
  "A JSON schema, according to specification draft 4.",
  {
    id: optional(1, string, "ID of the schema; not used."),
    $schema: optional(2, named("JSONSchemaURL", string), "URI of the schema's dialect; not used."),
    $ref: pointer(3, string, "Reference to another schema; forbidden in custom resource definitions."),
    description: optional(4, string, "Description of the value."),
    type: optional(5, string, "JSON type of the value: object, array, string, integer, number or boolean."),
    format: optional(6, string, "Format of a string or number, such as date-time."),
    title: optional(7, string, "Title of the schema."),
    default: pointer(8, json, "Default that is applied if the value is missing."),
    maximum: pointer(9, double, "Maximum of a number."),
    exclusiveMaximum: optional(10, bool, "Whether the maximum itself is excluded."),
    minimum: pointer(11, double, "Minimum of a number."),
    exclusiveMinimum: optional(12, bool, "Whether the minimum itself is excluded."),
    maxLength: pointer(13, int64, "Maximum length of a string, in characters."),
    minLength: pointer(14, int64, "Minimum length of a string, in characters."),
    pattern: optional(15, string, "Regular expression that a string must match."),
    maxItems: pointer(16, int64, "Maximum number of items of an array."),
    minItems: pointer(17, int64, "Minimum number of items of an array."),
    uniqueItems: optional(
      18,
      bool,
      "Whether the items of an array must be unique; must not be true in custom resource definitions.",
    ),
    multipleOf: pointer(19, double, "Number that the value must be a multiple of."),
    enum: optional(20, list(json), "Allowed values."),
    maxProperties: pointer(21, int64, "Maximum number of properties of an object."),
    minProperties: pointer(22, int64, "Minimum number of properties of an object."),
    required: optional(23, list(string), "Names of required properties."),
    items: pointer(24, orArray<JSONSchemaProps>(self), "Schema of the items of an array.", undescribed),
    allOf: optional(25, list(recursive<JSONSchemaProps>(self)), "Schemas that the value must all match."),
    oneOf: optional(
      26,
      list(recursive<JSONSchemaProps>(self)),
      "Schemas of which the value must match exactly one.",
    ),
    anyOf: optional(
      27,
      list(recursive<JSONSchemaProps>(self)),
      "Schemas of which the value must match at least one.",
    ),
    not: optional(28, recursive<JSONSchemaProps>(self), "Schema that the value must not match.", undescribed),
    properties: optional(
      29,
      map(recursive<JSONSchemaProps>(self)),
      "Schemas of the properties of an object.",
    ),
    additionalProperties: pointer(
      30,
      orBool<JSONSchemaProps>(self),
      "Schema of properties not listed in properties, or whether any are allowed.",
      undescribed,
    ),
    patternProperties: optional(
      31,
      map(recursive<JSONSchemaProps>(self)),
      "Schemas of properties by regular expression; forbidden in custom resource definitions.",
    ),
    dependencies: optional(
      32,
      named("JSONSchemaDependencies", map(orStrings<JSONSchemaProps>(self))),
      "Requirements that depend on the presence of a property; forbidden in custom resource definitions.",
      keepEmpty,
    ),
    additionalItems: pointer(
      33,
      orBool<JSONSchemaProps>(self),
      "Schema of additional items, or whether any are allowed; forbidden in custom resource definitions.",
      undescribed,
    ),
    definitions: optional(
      34,
      named("JSONSchemaDefinitions", map(recursive<JSONSchemaProps>(self))),
      "Schemas for references; forbidden in custom resource definitions.",
    ),
    externalDocs: optional(35, ExternalDocumentation, "External documentation of the value.", undescribed),
    example: pointer(36, json, "An example of the value.", undescribed),
    nullable: optional(37, bool, "Whether null is a valid value."),
    ...dialectFields({
      "x-orch-preserve-unknown-fields": pointer(
        38,
        bool,
        "Whether fields that the schema does not specify are preserved instead of pruned.",
      ),
      "x-orch-embedded-resource": optional(
        39,
        bool,
        "Whether the value is a complete object with apiVersion, kind and metadata.",
      ),
      "x-orch-int-or-string": optional(40, bool, "Whether the value is either an integer or a string."),
      "x-orch-list-map-keys": optional(
        41,
        list(string),
        "Keys that identify the items of a list of type map.",
      ),
      "x-orch-list-type": pointer(42, string, "Topology of a list for merging: atomic, set or map."),
      "x-orch-map-type": pointer(43, string, "Topology of an object for merging: granular or atomic."),
      "x-orch-validations": optional(
        44,
        named("ValidationRules", list(ValidationRule)),
        "Validation rules in CEL.",
        {
          ...patchMerge("rule"),
          ...mapList("rule"),
        },
      ),
    }),
  },
);
export interface JSONSchemaProps extends TypeOf<typeof JSONSchemaProps> {}
