// OpenAPI 3 in the protobuf form, encoded from the JSON document.
import {
  type Encode,
  type Json,
  any,
  booleanField,
  double,
  doubleField,
  flag,
  integer,
  lengthed,
  message,
  named,
  text,
  wrapped,
} from "./proto-message.ts";

const reference = message(() => ({ $ref: [1, text], summary: [2, text], description: [3, text] }), 0);

/** An object or a reference to one: two alternatives of one message. */
const orReference =
  (encode: Encode): Encode =>
  (value: Json) =>
    "$ref" in value ? lengthed(2, reference(value as never)) : lengthed(1, encode(value as never));

/** Defaults that are lists or objects have no form in this message: it is empty. */
const defaultValue: Encode = (value: unknown) => {
  if (typeof value === "number") return doubleField(1, value);
  if (typeof value === "boolean") return booleanField(2, value);
  return typeof value === "string" ? lengthed(3, Buffer.from(value)) : Buffer.alloc(0);
};

const additional: Encode = (value: unknown) =>
  typeof value === "boolean" ? booleanField(2, value) : lengthed(1, schemaOrReference(value as never));

const schema: Encode = message(
  () => ({
    nullable: [1, flag],
    example: [7, any],
    title: [9, text],
    multipleOf: [10, double],
    maximum: [11, double],
    exclusiveMaximum: [12, flag],
    minimum: [13, double],
    exclusiveMinimum: [14, flag],
    maxLength: [15, integer],
    minLength: [16, integer],
    pattern: [17, text],
    maxItems: [18, integer],
    minItems: [19, integer],
    uniqueItems: [20, flag],
    maxProperties: [21, integer],
    minProperties: [22, integer],
    required: [23, text],
    enum: [24, any],
    type: [25, text],
    allOf: [26, schemaOrReference],
    oneOf: [27, schemaOrReference],
    anyOf: [28, schemaOrReference],
    not: [29, schema],
    items: [30, wrapped(1, schemaOrReference)],
    properties: [31, named(schemaOrReference)],
    additionalProperties: [32, additional],
    default: [33, defaultValue],
    description: [34, text],
    format: [35, text],
  }),
  36,
);
const schemaOrReference = orReference(schema);

const content = named(message(() => ({ schema: [1, schemaOrReference] }), 5));
const parameter = message(
  () => ({
    name: [1, text],
    in: [2, text],
    description: [3, text],
    required: [4, flag],
    schema: [10, schemaOrReference],
    content: [13, content],
  }),
  14,
);
const requestBody = message(
  () => ({ description: [1, text], content: [2, content], required: [3, flag] }),
  4,
);
const response = orReference(message(() => ({ description: [1, text], content: [3, content] }), 5));
const responses: Encode = ({ default: other, ...rest }: Json) =>
  Buffer.concat([
    ...(other === undefined ? [] : [lengthed(1, response(other as never))]),
    named(response, 2)(rest as never),
  ]);
const operation = message(
  () => ({
    tags: [1, text],
    summary: [2, text],
    description: [3, text],
    operationId: [5, text],
    parameters: [6, orReference(parameter)],
    requestBody: [7, orReference(requestBody)],
    responses: [8, responses],
    deprecated: [10, flag],
  }),
  13,
);
const pathItem = message(
  () => ({
    get: [4, operation],
    put: [5, operation],
    post: [6, operation],
    delete: [7, operation],
    options: [8, operation],
    head: [9, operation],
    patch: [10, operation],
    parameters: [13, orReference(parameter)],
  }),
  14,
);
const securityScheme = message(
  () => ({ type: [1, text], description: [2, text], name: [3, text], in: [4, text] }),
  9,
);
const document = message(
  () => ({
    openapi: [1, text],
    info: [2, message(() => ({ title: [1, text], description: [2, text], version: [6, text] }), 7)],
    paths: [4, named(pathItem)],
    components: [
      5,
      message(
        () => ({
          schemas: [1, named(schemaOrReference)],
          securitySchemes: [7, named(orReference(securityScheme))],
        }),
        10,
      ),
    ],
  }),
  9,
);

export const binaryV3 = (json: Json): Buffer => document(json as never);
