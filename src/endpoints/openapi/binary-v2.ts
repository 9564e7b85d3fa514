// OpenAPI 2 in the protobuf form that older command-line clients request, encoded from the JSON document.
import {
  type Encode,
  type Json,
  any,
  flag,
  lengthed,
  message,
  named,
  strings,
  text,
  wrapped,
} from "./proto-message.ts";

const schema: Encode = message(
  () => ({
    $ref: [1, text],
    format: [2, text],
    title: [3, text],
    description: [4, text],
    default: [5, any],
    required: [19, text],
    enum: [20, any],
    additionalProperties: [21, wrapped(1, schema)],
    type: [22, strings],
    items: [23, wrapped(1, schema)],
    allOf: [24, schema],
    properties: [25, named(schema)],
  }),
  31,
);

const bodyParameter = message(
  () => ({
    description: [1, text],
    name: [2, text],
    in: [3, text],
    required: [4, flag],
    schema: [5, schema],
  }),
  6,
);
const queryParameter = message(
  () => ({
    required: [1, flag],
    in: [2, text],
    description: [3, text],
    name: [4, text],
    type: [6, text],
    uniqueItems: [20, flag],
  }),
  23,
);
const pathParameter = message(
  () => ({
    required: [1, flag],
    in: [2, text],
    description: [3, text],
    name: [4, text],
    type: [5, text],
    uniqueItems: [19, flag],
  }),
  22,
);
const parameter: Encode = (value: Json) => {
  if (value["in"] === "body") return lengthed(1, lengthed(1, bodyParameter(value as never)));
  return lengthed(
    1,
    lengthed(
      2,
      value["in"] === "query"
        ? lengthed(3, queryParameter(value as never))
        : lengthed(4, pathParameter(value as never)),
    ),
  );
};
const response = message(() => ({ description: [1, text], schema: [2, wrapped(1, schema)] }), 5);
const operation = message(
  () => ({
    tags: [1, text],
    description: [3, text],
    operationId: [5, text],
    produces: [6, text],
    consumes: [7, text],
    parameters: [8, parameter],
    responses: [9, named(wrapped(1, response))],
    schemes: [10, text],
  }),
  13,
);
const pathItem = message(
  () => ({
    get: [2, operation],
    put: [3, operation],
    post: [4, operation],
    delete: [5, operation],
    options: [6, operation],
    head: [7, operation],
    patch: [8, operation],
    parameters: [9, parameter],
  }),
  10,
);
const apiKey = message(
  () => ({ type: [1, text], name: [2, text], in: [3, text], description: [4, text] }),
  5,
);
const document = message(
  () => ({
    swagger: [1, text],
    info: [2, message(() => ({ title: [1, text], version: [2, text] }), 7)],
    paths: [8, named(pathItem, 2)],
    definitions: [9, named(schema)],
    security: [12, named(strings)],
    securityDefinitions: [13, named(wrapped(2, apiKey))],
  }),
  16,
);

export const binaryV2 = (json: Json): Buffer => document(json as never);
