// OpenAPI 2 in the protobuf form that older command-line clients request, encoded from the JSON document.
import { printYaml } from "#schema";

type Json = Record<string, unknown>;
type Encode = (value: never) => Buffer;
/** The number and encoder of each field; lists are encoded item by item. */
type Layout = Readonly<Record<string, readonly [number: number, encode: Encode]>>;

const varint = (value: number): Buffer => {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest % 128) | 128);
  }
};
const lengthed = (number: number, body: Buffer): Buffer =>
  Buffer.concat([varint(number * 8 + 2), varint(body.length), body]);
const text: Encode = (value: string) => Buffer.from(value);
const truth = (number: number): Buffer => Buffer.concat([varint(number * 8), Buffer.from([1])]);

/** Encodes any value as YAML text. */
const any: Encode = (value: unknown) => lengthed(2, Buffer.from(printYaml(value)));

/** Encodes a map as a list of names and values, in a message with a single field. */
const named =
  (encode: Encode, number = 1): Encode =>
  (value: Json) =>
    Buffer.concat(
      Object.entries(value).map(([name, item]) =>
        lengthed(number, Buffer.concat([lengthed(1, Buffer.from(name)), lengthed(2, encode(item as never))])),
      ),
    );
const wrapped =
  (number: number, encode: Encode): Encode =>
  (value) =>
    lengthed(number, encode(value));
const strings: Encode = (value: readonly string[] | string) =>
  Buffer.concat([value].flat().map((item) => lengthed(1, Buffer.from(item))));

const booleanFlag = Symbol("boolean");
const flag = Object.assign((): Buffer => Buffer.alloc(0), { [booleanFlag]: true }) as unknown as Encode;
const isFlag = (encode: Encode): boolean => booleanFlag in encode;

/**
 * Encodes the known fields of an object in order of their numbers, and fields starting with x- as extensions.
 */
function message(layout: () => Layout, extensions: number): Encode {
  return (object: Json) => {
    const parts: [number, Buffer][] = [];
    for (const [key, value] of Object.entries(object)) {
      if (key.startsWith("x-")) {
        parts.push([
          extensions,
          lengthed(
            extensions,
            Buffer.concat([lengthed(1, Buffer.from(key)), lengthed(2, any(value as never))]),
          ),
        ]);
        continue;
      }
      const field = layout()[key];
      if (!field || value === undefined) continue;
      const [number, encode] = field;
      if (isFlag(encode)) {
        if (value === true) parts.push([number, truth(number)]);
      } else if (Array.isArray(value) && !whole.has(encode))
        for (const item of value) parts.push([number, lengthed(number, encode(item as never))]);
      else parts.push([number, lengthed(number, encode(value as never))]);
    }
    return Buffer.concat(parts.sort(([a], [b]) => a - b).map(([, bytes]) => bytes));
  };
}

/** Encoders that take a list as one value. */
const whole = new Set<Encode>([strings]);

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

export const binaryDocument = (json: Json): Buffer => document(json as never);
